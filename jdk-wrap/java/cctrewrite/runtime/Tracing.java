package cctrewrite.runtime;

import java.lang.ref.WeakReference;

/**
 * Traces (docs/research/trace.md): the records of threads, into whose buffers rewritten code writes
 * events. Memory and file are the load-time library's.
 *
 * <p>A record whose thread has ended goes to the next thread, which has a number of its own. In
 * bypass, but for {@link #flush}.
 */
public final class Tracing {
    private static final int DAEMON = 1;

    private static final Object LOCK = new Object();

    private static boolean on;

    /** Whether a method was entered with which recording begins. */
    private static boolean entered;

    /** Why there is no trace, or null. */
    private static String trouble;

    /** Under the lock. */
    private static final ThreadRecords RECORDS = new ThreadRecords();

    private Tracing() {}

    /** This class library traces. Before everything else. */
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

    /** What was asked for that is for profiles alone; null for nothing. */
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
     * The methods of {@code cctrewrite.api.Recording}; whether the thread is recorded from now on.
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

    /** Whether a thread is recorded, or (0) all are, those too that come. */
    private static native void turn(long record, boolean recorded, String name);

    /** Opens the trace's file; with what is known of the class library's classes. */
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

    /** A method is entered from whose first entry on everything is recorded. */
    static void startAt() {
        entered = true;
        turn(0L, true, null);
    }

    /** A method whose extent is recorded is entered (1), or left (-1). */
    public static void extent(long record, int deeper) {
        entered = true;
        nest(record, deeper);
    }

    private static native void nest(long record, int deeper);

    /** What was said about the trace: a property, or by who started this JVM; null for nothing. */
    private static String option(String key) {
        String given = System.getProperty("cctrewrite.trace-" + key);
        return given != null ? given : LoadTime.said("trace-" + key);
    }

    /** A record for the current thread; 0 without memory. */
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

    /** How the trace comes about, as far as is known when the program begins. */
    static void describe(Description description) {
        String[] lines = new String[Description.KEYS.length];
        for (int i = 0; i < lines.length; i++) {
            lines[i] = Description.KEYS[i] + '=' + description.values[i];
        }
        meta(lines);
    }

    /** The end of the JVM: what is in the buffers is written, and what readers must know. */
    static void finish() {
        names();
        String wrong = end(notes());
        if (wrong != null) {
            Settings.say("the trace is not complete: " + wrong);
        }
    }

    /** What readers must know. */
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
     * Threads that live have the names that they have now: some are named behind their first event.
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

    /** The name of the thread whose record this is. */
    private static native void name(long record, Thread thread, String name);

    /**
     * Opens the file, in which {@code %p} is the process; says what went wrong, or null. Options
     * are null where nothing was said.
     */
    private static native String start(String file, String structure, String[] options);

    private static native long make(Thread thread, String name, int flags);

    /** The record goes to another thread. */
    private static native boolean renew(long record, Thread thread, String name, int flags);

    /** An object's identity hash code; 0 as long as the JVM does not tell. */
    public static native int identity(Object object);

    /** The address of the word that keeps the order between threads; 0 if it is not kept. */
    private static native long order();

    /** Takes a full buffer; returns the place of the next event. */
    public static native long flush(long record);

    /** The number of a class, plus one. */
    public static native long number(Class<?> type);

    private static native void meta(String[] lines);

    private static native String end(String[] notes);
}
