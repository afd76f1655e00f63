package com.acme;

/** {@code sum(n)} executes 9 n + 9 bytecodes. */
public final class Loop {
    private Loop() {}

    public static void main(String[] arguments) {
        System.out.println(sum(100));
    }

    public static int sum(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }
}
