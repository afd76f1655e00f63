package java.lang;

import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Pcc;
import java.lang.invoke.DontInline;
import java.lang.invoke.ForceInline;
import sun.misc.Unsafe;

/**
 * The methods that rewritten code calls in a JDK for context values ({@code --tool pcc};
 * docs/research/pcc.md). The rules of {@link CctRuntime} hold.
 *
 * <p>A value has its lowest bit set, and no call changes that bit. While nothing is recorded, a
 * thread has an even number instead (0, {@link CctRuntime#BYPASS}, {@link CctRuntime#OFF}). All
 * numbers computed from it are even, too.
 */
public final class CctPcc {
    /** The lowest bit of a value. */
    private static final long RECORDED = 1L;

    /** The value of a context without a caller. */
    private static final long ROOT = 1L;

    /** The factor (crates/pcc/src/value.rs). */
    private static final long FACTOR = 3L;

    // Offsets in a thread's record (crates/loadtime/src/pcc/table.rs).
    private static final long TABLE = 0L;
    private static final long MASK = 8L;
    private static final long USED = 16L;
    private static final long MOST = 24L;
    private static final long LOST = 32L;
    private static final long OFF = 40L;
    private static final long FULL = 48L;

    // An entry of a table.
    private static final long ENTRY = 24L;
    private static final long VALUE = 8L;
    private static final long COUNT = 16L;

    private static final long MIX = 0x9E3779B97F4A7C15L;

    // Values of Class.cct$inherits (CctRuntime).
    private static final long INHERITS = 1L;
    private static final long OVERRIDES = 2L;

    /** Whether threads begin outside of an extent. */
    private static boolean extents;

    /** Whether recording still waits for the first entry of a method that starts it. */
    private static boolean waiting;

    private CctPcc() {}

    /** Called by the class library instead of {@link CctHooks#boot}, if its contexts are values. */
    public static void boot() {
        Pcc.begin();
        CctHooks.boot();
    }

    /** Sets whether there are extents, and whether recording waits for the entry of a method. */
    static void start(boolean inExtents, boolean waits) {
        extents = inExtents;
        waiting = waits;
    }

    // ---- chosen methods -------------------------------------------------------------------------

    /** Counts the entry of a chosen method. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void at(long value, long place) {
        if ((value & RECORDED) != 0L) {
            count(value, place);
        }
    }

    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static void count(long value, long place) {
        Thread thread = Thread.currentThread();
        long record = thread.cct$root;
        if (record == 0L) {
            record = attach(thread);
            if (record == 0L) {
                return;
            }
        }
        Unsafe u = CctMemory.U;
        if (u.getLong(null, record + OFF) != 0L) {
            return;
        }
        while (true) {
            long table = u.getLong(null, record + TABLE);
            long mask = u.getLong(null, record + MASK);
            long at = ((value ^ place) * MIX >>> 32) & mask;
            long entry = table + at * ENTRY;
            long there = u.getLong(null, entry);
            while (there != 0L) {
                if (there == place && u.getLong(null, entry + VALUE) == value) {
                    u.putLong(null, entry + COUNT, u.getLong(null, entry + COUNT) + 1L);
                    return;
                }
                at = (at + 1L) & mask;
                entry = table + at * ENTRY;
                there = u.getLong(null, entry);
            }
            long used = u.getLong(null, record + USED);
            if (used < u.getLong(null, record + MOST)) {
                // Readers skip entries without a value or a count.
                u.putLong(null, entry + VALUE, value);
                u.putLong(null, entry + COUNT, 1L);
                u.putLong(null, record + USED, used + 1L);
                u.putLong(null, entry, place);
                return;
            }
            if (u.getLong(null, record + FULL) != 0L || !Pcc.grow(record)) {
                u.putLong(null, record + LOST, u.getLong(null, record + LOST) + 1L);
                return;
            }
        }
    }

    /** The thread's record; 0 if there is no memory. */
    private static long attach(Thread thread) {
        long context = thread.cct$context;
        long record = 0L;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            record = Pcc.attach(thread);
        } catch (OutOfMemoryError e) {
            // The program has allocated nothing here, so it must not see the error.
        } catch (StackOverflowError e) {
            // The program must not see this error, either.
        } finally {
            thread.cct$context = context;
        }
        if (record == 0L) {
            Pcc.lose();
        } else {
            thread.cct$root = record;
        }
        return record;
    }

    /**
     * Runs before a virtual call of {@code hashCode}. Does {@link #store}. If the call leads to
     * {@code Object}'s native, which is a chosen method, also does {@link #at}.
     */
    public static void atHashCode(Object receiver, long value, long place) {
        if ((value & RECORDED) == 0L) {
            return;
        }
        Thread.currentThread().cct$context = value;
        if (receiver == null) {
            return;
        }
        Class<?> type = receiver.getClass();
        long inherits = type.cct$inherits;
        if (inherits == 0L) {
            inherits = LoadTime.loaded() ? LoadTime.inheritsHashCode(type) : OVERRIDES;
            type.cct$inherits = inherits;
        }
        if (inherits == INHERITS) {
            count(value, place);
        }
    }

    /**
     * The answer to {@code cctrewrite.api.Pcc.current}: the value that the call has stored in the
     * thread; 0 while nothing is recorded.
     */
    public static long value() {
        Thread thread = (Thread) CctRuntime.thread();
        long value = thread == null ? 0L : thread.cct$context;
        return (value & RECORDED) != 0L ? value : 0L;
    }

    // ---- as in CctRuntime -----------------------------------------------------------------------

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void store(long value) {
        if ((value & RECORDED) != 0L) {
            Thread.currentThread().cct$context = value;
        }
    }

    /** The thread's value. Any context may have any value; 0 means that the thread has none yet. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long context(Object thread) {
        if (thread == null) {
            return 0L;
        }
        long value = ((Thread) thread).cct$context;
        return value != 0L ? value : first((Thread) thread);
    }

    private static long first(Thread thread) {
        long value = extents ? CctRuntime.OFF : ROOT;
        thread.cct$context = value;
        return value;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void carry(Object thread, long value) {
        if ((value & RECORDED) != 0L && thread != null) {
            ((Thread) thread).cct$context = value;
        }
    }

    public static long begin(Object thread, long context) {
        if (context != CctRuntime.OFF) {
            return context;
        }
        ((Thread) thread).cct$context = ROOT;
        return ROOT;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void link(Object member, long value) {
        if ((value & RECORDED) == 0L) {
            return;
        }
        Thread.currentThread().cct$context = value;
        if (CctRuntime.isNative(member)) {
            nativeCall(CctNatives.ofMember(member), value);
        }
    }

    /**
     * Runs before a native that may call back. {@code site} is the number that the native adds; 0
     * if the native calls nothing back or is not part of values.
     */
    static void nativeCall(long site, long value) {
        if (site != 0L) {
            Thread.currentThread().cct$context = value * FACTOR + site;
        }
    }

    /**
     * Finds the value of a method that the VM calls in the middle of a bytecode, from the stack.
     * Without the load-time library, and in a transition, it is the value that the thread has.
     */
    public static long replay(Object thread, long context) {
        if ((context & RECORDED) == 0L || !LoadTime.loaded() || ((Thread) thread).cct$transition) {
            return context;
        }
        long found = Pcc.replay((Thread) thread);
        return found == 0L ? context : found;
    }

    // ---- switches -------------------------------------------------------------------------------

    /** Implements the methods of {@code cctrewrite.api.Recording}. */
    public static boolean record(Object name, int what) {
        Thread thread = (Thread) CctRuntime.thread();
        long context = context(thread);
        if (thread == null || context == CctRuntime.BYPASS) {
            return false;
        }
        long record = thread.cct$root;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            if (record == 0L) {
                record = Pcc.attach(thread);
                thread.cct$root = record;
            }
            return Pcc.control(record, what) && context != CctRuntime.OFF;
        } finally {
            thread.cct$context = context;
        }
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void startAt() {
        if (waiting) {
            startNow();
        }
    }

    private static void startNow() {
        Thread thread = (Thread) CctRuntime.thread();
        long context = context(thread);
        if (thread == null || context == CctRuntime.BYPASS) {
            return;
        }
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Pcc.startAt();
            waiting = false;
        } finally {
            thread.cct$context = context;
        }
    }
}
