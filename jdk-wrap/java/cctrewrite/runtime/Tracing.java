package cctrewrite.runtime;

import java.lang.ref.WeakReference;

/**
 * Traces (docs/research/trace.md): the records of threads, with the buffers into which rewritten
 * code writes events. The load-time library manages memory and file.
 *
 * <p>When a thread has ended, the next thread takes over its record, under a new number. In bypass,
 * except for {@link #flush}.
 */
public final class Tracing {
    private static final int DAEMON = 1;

    private static final Object LOCK = new Object();

    private static boolean on;

    /** Whether a thread has entered a method that starts the recording. */
    private static boolean entered;

    /** Why there is no trace, or null. */
    private static String trouble;

    /** The records; access only under the lock. */
    private static final ThreadRecords RECORDS = new ThreadRecords();

    private Tracing() {}

    /** Switches tracing on, as this class library needs it. Runs before everything else. */
    public static void begin() {
        on = true;
    }

    /** Whether this class library traces. */
    public static boolean on() {
        return on;
    }

    /** Why there is no trace, or null. */
    static String trouble() {
        if (trouble != null || !on) {
            return trouble;
        }
        if (!LoadTime.loaded()) {
            return "a trace needs the library that rewrites classes at load time "
                    + "(-Dcctrewrite.loadtime)";
        }
        return refused();
    }

    /**
     * The name of an option in use that is for profiles only, as an error message; null if there is
     * none.
     */
    private static String refused() {
        String[] given = {
            Settings.AGENT.equals(Settings.DEFAULT_AGENT) ? null : "agent",
            Settings.MAX_CONTEXTS == null ? null : "max-contexts",
            Settings.MAX == null ? null : "max",
            Settings.RECURSION.equals("unbounded") ? null : "recursion",
            System.getProperty("cctrewrite.arena") == null ? null : "arena",
        };
        for (int i = 0; i < given.length; i++) {
            if (given[i] != null) {
                return "-Dcctrewrite." + given[i]
                        + " is for profiles, and this JDK traces; leave it out";
            }
        }
        return null;
    }

    /**
     * Implements the methods of {@code cctrewrite.api.Recording}. Returns whether the thread is
     * recorded from now on.
     */
    public static boolean control(long record, Object name, int what) {
        boolean starts = what == Regions.START || what == Regions.START_ALL;
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                boolean all = what == Regions.START_ALL || what == Regions.STOP_ALL;
                if (what != Regions.ACTIVE) {
                    turn(all ? 0L : record, starts, starts ? (String) name : null);
                }
            }
        } finally {
            CctPin.unpin(pinned);
        }
        return what == Regions.ACTIVE ? isActive(record) : starts;
    }

    private static native boolean isActive(long record);

    /** Sets whether a thread is recorded. 0 means all threads, including later ones. */
    private static native void turn(long record, boolean recorded, String name);

    /** Opens the trace's file, with the structure of the class library's classes. */
    static void open(String place) {
        String out = place != null ? place + ".trace" : System.getProperty("cctrewrite.out");
        if ("yes".equals(option("receivers"))) {
            CctTrace.withReceivers();
        }
        boolean off = "regions".equals(Settings.RECORD) || Settings.START_AT != null
                || Settings.EXTENT != null;
        String[] options = {option("mode"), option("last"), option("memory")};
        trouble = start(out == null ? "cctrewrite-%p.trace" : out, Property.get("java.home")
                + "/lib/cctrewrite/structure", options);
        if (trouble == null) {
            CctTrace.withOrder(order());
        }
        if (trouble == null && off) {
            turn(0L, false, null);
        }
    }

    /**
     * Records everything from now on: a thread enters one of the methods given by
     * -Dcctrewrite.start-at.
     */
    static void startAt() {
        entered = true;
        turn(0L, true, null);
    }

    /** Counts that the thread enters (1) or leaves (-1) a method whose extent is recorded. */
    public static void extent(long record, int deeper) {
        entered = true;
        nest(record, deeper);
    }

    private static native void nest(long record, int deeper);

    /**
     * An option of the trace: a property, or a setting from the process that started this JVM; null
     * for none.
     */
    private static String option(String key) {
        String given = System.getProperty("cctrewrite.trace-" + key);
        return given != null ? given : LoadTime.said("trace-" + key);
    }

    /** A record for the current thread; 0 if there is no memory. */
    static long attach(Thread thread) {
        int flags = Threads.isDaemon(thread) ? DAEMON : 0;
        String name = thread.getName();
        WeakReference<Thread> owner = new WeakReference<Thread>(thread);
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                long record = RECORDS.ended(owner);
                if (record != 0L) {
                    return renew(record, thread, name, flags) ? record : 0L;
                }
            }
            long record = make(thread, name, flags);
            if (record == 0L) {
                return 0L;
            }
            synchronized (LOCK) {
                RECORDS.add(record, owner);
            }
            return record;
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** Writes the description of the trace, as far as it is known when the program begins. */
    static void describe(Description description) {
        String[] lines = new String[Description.KEYS.length];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = Description.KEYS[i] + '=' + description.values[i];
        }
        meta(lines);
    }

    /**
     * Ends the trace at the end of the JVM: writes the contents of the buffers, and notes for
     * readers.
     */
    static void finish() {
        names();
        String wrong = end(notes());
        if (wrong != null) {
            Settings.say("the trace is not complete: " + wrong);
        }
    }

    /** Notes for readers. */
    private static String[] notes() {
        String[] notes = LoadTime.notes();
        String wanted = Settings.START_AT != null ? Settings.START_AT : Settings.EXTENT;
        if (wanted == null || entered) {
            return notes;
        }
        String[] more = new String[notes.length + 1];
        System.arraycopy(notes, 0, more, 1, notes.length);
        more[0] = "recording was to begin with " + wanted + ", which has not been entered";
        return more;
    }

    /**
     * Updates the names of living threads: some threads get their names after their first event.
     */
    private static void names() {
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                for (int i = 0; i < RECORDS.count(); i++) {
                    Thread thread = RECORDS.living(i);
                    if (thread != null) {
                        name(RECORDS.record(i), thread, thread.getName());
                    }
                }
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** Sets the name of the thread that owns the record. */
    private static native void name(long record, Thread thread, String name);

    /**
     * Opens the file, in which {@code %p} is the process id. Returns an error, or null. Options
     * that the user did not give are null.
     */
    private static native String start(String file, String structure, String[] options);

    private static native long make(Thread thread, String name, int flags);

    /** Gives the record to another thread. */
    private static native boolean renew(long record, Thread thread, String name, int flags);

    /** An object's identity hash code; 0 while the JVM cannot return it. */
    public static native int identity(Object object);

    /**
     * The address of the word that orders events of all threads; 0 if the trace has no global
     * order.
     */
    private static native long order();

    /** Takes a full buffer. Returns the address of the next event. */
    public static native long flush(long record);

    /** The number of a class, plus one. */
    public static native long number(Class<?> type);

    private static native void meta(String[] lines);

    private static native String end(String[] notes);
}
