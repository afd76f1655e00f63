package cctrewrite.runtime;

import java.lang.ref.WeakReference;

/**
 * Context values (docs/research/pcc.md): the records of threads. Each record has a table that
 * counts how often the thread entered chosen methods with which value. The load-time library
 * manages memory and file.
 *
 * <p>When a thread has ended, the next thread takes over its record and continues to count: the
 * result is a sum over all threads. In bypass, except for {@link #grow} and {@link #replay}.
 */
public final class Pcc {
    private static final Object LOCK = new Object();

    /** The default for the memory of all tables together, in MiB. */
    private static final String MEMORY = "256";

    private static boolean on;

    /** Whether a thread has entered a method that starts the recording. */
    private static boolean entered;

    /** Why nothing can be recorded, or null. */
    private static String trouble;

    /** Whether threads without a setting of their own are recorded. */
    private static boolean all = true;

    /** The records; access only under the lock. */
    private static final ThreadRecords RECORDS = new ThreadRecords();

    /**
     * The number of entries that were not recorded because their thread had no record. An increment
     * may be lost if threads count at once.
     */
    private static long lost;

    private Pcc() {}

    /**
     * Switches context values on, as this class library needs them. Runs before everything else.
     */
    public static void begin() {
        on = true;
    }

    /** Whether contexts are values. */
    public static boolean on() {
        return on;
    }

    /** Why nothing can be recorded, or null. */
    static String trouble() {
        if (trouble != null || !on) {
            return trouble;
        }
        if (!LoadTime.loaded()) {
            return "values of contexts are written by the library that rewrites classes at load "
                    + "time (-Dcctrewrite.loadtime), which is needed";
        }
        return refused();
    }

    /** An error message if the user gave an option that is for profiles only; null otherwise. */
    private static String refused() {
        String[] given = {
            Settings.AGENT.equals(Settings.DEFAULT_AGENT) ? null : "agent",
            Settings.MAX_CONTEXTS == null ? null : "max-contexts",
            Settings.MAX == null ? null : "max",
            Settings.RECURSION.equals("unbounded") ? null : "recursion",
            Settings.IDENTITY.equals("name") ? null : "identity",
            Settings.SYSTEM_THREADS.equals("yes") ? null : "system-threads",
            System.getProperty("cctrewrite.arena") == null ? null : "arena",
        };
        for (int i = 0; i < given.length; i++) {
            if (given[i] != null) {
                return "-Dcctrewrite." + given[i]
                        + " is for profiles, and this JDK was made with --tool pcc; leave it out";
            }
        }
        return null;
    }

    /**
     * Passes the file and the memory bound to the library. {@code place} is null unless the process
     * that started this JVM wants the file in another place.
     */
    static void open(String place) {
        String out = place != null ? place + ".pcc" : System.getProperty("cctrewrite.out");
        // On a profiled JDK the program finds Long initialised, since the runtime uses it.
        try {
            Class.forName("java.lang.Long");
        } catch (ClassNotFoundException e) {
            trouble = e.toString();
            return;
        }
        String memory = System.getProperty("cctrewrite.pcc-memory");
        if (memory == null) {
            memory = LoadTime.said("pcc-memory");
        }
        all = !"regions".equals(Settings.RECORD) && Settings.START_AT == null;
        trouble = start(out == null ? "cctrewrite-%p.pcc" : out, memory == null ? MEMORY : memory);
    }

    /** A record for the current thread; 0 if there is no memory. */
    public static long attach(Thread thread) {
        WeakReference<Thread> owner = new WeakReference<Thread>(thread);
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                long record = RECORDS.ended(owner);
                if (record != 0L) {
                    turn(record, all);
                    return record;
                }
            }
            long record = make();
            if (record == 0L) {
                return 0L;
            }
            synchronized (LOCK) {
                turn(record, all);
                RECORDS.add(record, owner);
            }
            return record;
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** Counts an entry that was not recorded. */
    public static void lose() {
        lost++;
    }

    // ---- switches -------------------------------------------------------------------------------

    /**
     * Implements the methods of {@code cctrewrite.api.Recording}. Returns whether the thread is
     * recorded from now on.
     */
    public static boolean control(long record, int what) {
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                if (what == Regions.START_ALL || what == Regions.STOP_ALL) {
                    turnAll(what == Regions.START_ALL);
                } else if (what != Regions.ACTIVE && record != 0L) {
                    turn(record, what == Regions.START);
                }
                return record != 0L && CctMemory.U.getLong(null, record + OFF) == 0L;
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** Starts the recording: a thread enters one of the methods given by -Dcctrewrite.start-at. */
    public static void startAt() {
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                entered = true;
                turnAll(true);
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    private static final long OFF = 40L;

    private static void turn(long record, boolean recorded) {
        CctMemory.U.putLong(null, record + OFF, recorded ? 0L : 1L);
    }

    private static void turnAll(boolean recorded) {
        all = recorded;
        for (int i = 0; i < RECORDS.count(); i++) {
            turn(RECORDS.record(i), recorded);
        }
    }

    // ---- the end --------------------------------------------------------------------------------

    /** Writes all counts at the end of the JVM. */
    static void finish() {
        Description description = Description.of(false, true);
        String[] lines = new String[Description.KEYS.length];
        for (int i = 0; i < lines.length; i++) {
            String value = description.values[i];
            lines[i] = value == null ? "" : Description.KEYS[i] + '=' + value;
        }
        String wrong = end(lines, notes(description), lost);
        if (wrong != null) {
            Settings.say("the values of contexts could not be written: " + wrong);
        }
    }

    /** Notes for the reader. */
    private static String[] notes(Description description) {
        String[] notes = LoadTime.notes();
        int more = description.notes.size();
        boolean never = Settings.START_AT != null && !entered;
        String[] together = new String[notes.length + more + (never ? 1 : 0)];
        System.arraycopy(notes, 0, together, 0, notes.length);
        for (int i = 0; i < more; i++) {
            together[notes.length + i] = description.notes.get(i);
        }
        if (never) {
            together[notes.length + more] = "values were to be recorded from the first entry "
                    + "of a method on (-Dcctrewrite.start-at), which has not been entered: "
                    + Settings.START_AT;
        }
        return together;
    }

    /**
     * Sets the file, in which {@code %p} is the process id, and the memory of all tables together,
     * in MiB. Returns an error, or null.
     */
    private static native String start(String file, String memory);

    /** A record with an empty table; 0 if there is no memory. */
    private static native long make();

    /** Enlarges the table of a record. Returns false if there is no memory. */
    public static native boolean grow(long record);

    /**
     * Finds the value of the context whose bytecode made the VM call the caller's caller's caller
     * in {@code thread}. {@code thread} is the current thread. Returns 0 if the library cannot find
     * it.
     */
    public static native long replay(Thread thread);

    private static native String end(String[] lines, String[] notes, long lost);
}
