package cctrewrite.api;

/**
 * Gives a program the number of its current calling context.
 *
 * <p>On a JDK that {@code --tool pcc} rewrote, equal contexts have equal values, in every run and
 * on every machine. Different contexts hardly ever have the same value. {@code cctrewrite pcc
 * contexts} translates values back to contexts.
 */
public final class Pcc {
    private Pcc() {}

    /**
     * The value of the context in which the program calls this method, this call included.
     *
     * @return an odd number; 0 on other JDKs, and while nothing is recorded
     */
    public static long current() {
        return 0L;
    }
}
