package com.acme;

/** What the benchmark measures. */
public final class Work {
    private Work() {}

    public static int run() {
        return Loop.sum(110);
    }
}
