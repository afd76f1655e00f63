package cctrewrite.api;

/**
 * Tells a program in which calling context it is.
 *
 * <p>On a JDK that was made with {@code --tool pcc} equal contexts have equal values, in every run
 * and on every machine, and different ones hardly ever the same; {@code cctrewrite pcc contexts}
 * translates values back.
 */
public final class Pcc {
    private Pcc() {}

    /**
     * The value of the context in which this method is called, this call included.
     *
     * @return an odd number; 0 on other JDKs, and where nothing is recorded
     */
    public static long current() {
        return 0L;
    }
}
