package cctrewrite.markers;

/** Whether the JVM has booted: classes of the program run only then. */
final class Boot {
    private Boot() {}

    static boolean isOver() {
        return true;
    }

    static void launched() {}

    /** What was come to before, where only that is counted. */
    static long early() {
        return 0;
    }

    /** Before clients are loaded: they print when the JVM ends. */
    static void begin() {
        Runtime.getRuntime().addShutdownHook(new Thread(new End.Printing(), "cctrewrite markers"));
    }

    /** A thread of ours, before it starts. */
    static Thread apart(Thread thread) {
        return thread;
    }
}
