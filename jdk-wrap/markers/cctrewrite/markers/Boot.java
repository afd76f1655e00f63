package cctrewrite.markers;

/** Whether the JVM has booted: always true here, since classes of the program run only then. */
final class Boot {
    private Boot() {}

    static boolean isOver() {
        return true;
    }

    static void launched() {}

    /** The number of markers reached before, where that is only counted. */
    static long early() {
        return 0;
    }

    /** Makes clients print when the JVM ends. Runs before clients are loaded. */
    static void begin() {
        Runtime.getRuntime().addShutdownHook(new Thread(new End.Printing(), "cctrewrite markers"));
    }

    /** Prepares a thread of the marker runtime before it starts. */
    static Thread apart(Thread thread) {
        return thread;
    }
}
