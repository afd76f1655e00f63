package cctrewrite.runtime;

import java.lang.ref.WeakReference;

/**
 * Values of contexts (docs/research/pcc.md): the records of threads, each with the table in which a
 * thread counts how often it entered chosen methods with which value. Memory and file are the
 * load-time library's.
 *
 * <p>A record whose thread has ended goes to the next thread, which counts on: all threads are
 * added up in the end. In bypass, but for {@link #grow} and {@link #replay}.
 */
public final class Pcc {
    private static final Object LOCK = new Object();

    /** What tables may have together unless something else is said, in MiB. */
    private static final String MEMORY = "256";

    private static boolean on;

    /** Whether a method was entered with which recording begins. */
    private static boolean entered;

    /** Why nothing can be recorded, or null. */
    private static String trouble;

    /** Whether threads of which nothing else has been said are recorded. */
    private static boolean all = true;

    /** Under the lock. */
    private static final ThreadRecords RECORDS = new ThreadRecords();

    /**
     * Entries that were not recorded because their thread had no record; threads that count at once
     * may lose one.
     */
    private static long lost;

    private Pcc() {}

    /** In this class library contexts are values. Before everything else. */
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

    /** What was asked for that is for profiles alone; null for nothing. */
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
     * The file and the bound are given to the library; where nobody started this JVM that wants the
     * file elsewhere {@code place} is null.
     */
    static void open(String place) {
        String out = place != null ? place + ".pcc" : System.getProperty("cctrewrite.out");
        // The program finds it initialised on a profiled JDK, whose runtime uses it.
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

    /** A record for the current thread; 0 without memory. */
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

    /** An entry was not recorded. */
    public static void lose() {
        lost++;
    }

    // ---- switches -------------------------------------------------------------------------------

    /**
     * The methods of {@code cctrewrite.api.Recording}; whether the thread is recorded from now on.
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

    /** A method is entered from whose first entry on values are recorded. */
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

    /** The end of the JVM: what was counted is written. */
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

    /** What readers must know. */
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
     * Takes the file, in which {@code %p} is the process, and how many MiB tables may have
     * together; says what is wrong with them, or null.
     */
    private static native String start(String file, String memory);

    /** A record with an empty table; 0 without memory. */
    private static native long make();

    /** Makes the table of a record larger; whether there was room. */
    public static native boolean grow(long record);

    /**
     * The value of the context whose bytecode made the VM call the caller's caller's caller in
     * {@code thread}, the current one; 0 when it cannot be told.
     */
    public static native long replay(Thread thread);

    private static native String end(String[] lines, String[] notes, long lost);
}
