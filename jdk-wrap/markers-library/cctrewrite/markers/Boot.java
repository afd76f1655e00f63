package cctrewrite.markers;

/** Whether the JVM has booted, which it has when the launcher reaches the program. */
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
        // Load the classes for a registration before any class needs them: they may themselves have
        // markers.
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        try {
            MarkerTable.prepare();
        } finally {
            stack.next = before;
        }
        over = true;
        if (Image.isOpen()) {
            // The process that waits for this JVM's results gets them, even if the program ends
            // before it reaches a marker.
            Clients.begin();
        }
    }

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
