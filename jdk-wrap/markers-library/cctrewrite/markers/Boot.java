package cctrewrite.markers;

/** Whether the JVM has booted: when the launcher comes to the program. */
final class Boot {
    private static volatile boolean over;

    private Boot() {}

    static boolean isOver() {
        return over;
    }

    static void launched() {
        if (over) {
            return;
        }
        Image.open();
        // What registering needs is there before any class does: its own classes may have markers.
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        try {
            MarkerTable.prepare();
        } finally {
            stack.next = before;
        }
        over = true;
        if (Image.isOpen()) {
            // Who waits for what this JVM leaves finds it, whatever the program comes to.
            Clients.begin();
        }
    }

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
