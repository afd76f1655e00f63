package cctrewrite.udi.runtime;

/**
 * The bypass, for classes that a user module's inserted code calls (docs/research/udi.md): the
 * dynamic inserted-code bypass (DIB) of FERRARI, one for each thread. While it is on, the runtime
 * records nothing that the thread does, and inserted code returns at once.
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
 * <p>A class in this package is not rewritten. So its own calls need no bypass, unless they go
 * through a method of the class library.
 */
public final class Bypass {
    private Bypass() {}

    /**
     * Whether inserted code must do nothing. That is so before the JVM has booted, when recording
     * is off for good, and while the current thread is in bypass, because it runs a module's code
     * or the profiler's own code.
     */
    public static boolean active() {
        return java.lang.CctRuntime.isBypassed();
    }

    /**
     * Switches the current thread into bypass; nests.
     *
     * @return the argument for {@link #end}
     */
    public static long begin() {
        return java.lang.CctRuntime.beginBypass();
    }

    /** Restores the current thread's state from before {@link #begin}. */
    public static void end(long before) {
        java.lang.CctRuntime.endBypass(before);
    }
}
