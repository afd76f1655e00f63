package cctrewrite.udi.runtime;

/**
 * The bypass, for classes that inserted code of a user's module calls (docs/research/udi.md): the
 * dynamic inserted-code bypass (DIB) of FERRARI, one for each thread. While it is on nothing that
 * the thread does is recorded, and inserted code leaves at once.
 *
 * <pre>
 * public static void entered() {
 *     if (Bypass.active()) {
 *         return;
 *     }
 *     long before = Bypass.begin();
 *     try {
 *         ... // anything of the class library
 *     } finally {
 *         Bypass.end(before);
 *     }
 * }
 * </pre>
 *
 * <p>A class in this package is not rewritten. So what it calls by itself, without a method of the
 * class library, needs no bypass.
 */
public final class Bypass {
    private Bypass() {}

    /**
     * Whether inserted code is to do nothing: the JVM has not booted, recording is off for good, or
     * the current thread is in bypass, because it runs a module's code or does work of the
     * profiler's own.
     */
    public static boolean active() {
        return java.lang.CctRuntime.isBypassed();
    }

    /**
     * Switches the current thread into bypass; nests.
     *
     * @return what {@link #end} must be given
     */
    public static long begin() {
        return java.lang.CctRuntime.beginBypass();
    }

    /** Puts the current thread back to what it was before. */
    public static void end(long before) {
        java.lang.CctRuntime.endBypass(before);
    }
}
