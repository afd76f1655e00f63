/**
 * The program that `cctrewrite doctor` profiles: the tenth Fibonacci number by recursion.
 *
 * F(n) calls itself 2 * F(n + 1) - 1 times in all, the outermost call included: 177 calls for n =
 * 10. Of these, F(11) = 89 return n, with 5 bytecodes each, and 88 add, with 13 bytecodes each: 89
 * * 5 + 88 * 13 = 1,589.
 */
public final class Trial {
    static int fibonacci(int n) {
        if (n < 2) {
            return n;
        }
        return fibonacci(n - 1) + fibonacci(n - 2);
    }

    public static void main(String[] arguments) {
        System.out.println(fibonacci(10));
    }
}
