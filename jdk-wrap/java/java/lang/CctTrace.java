package java.lang;

import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Tracing;
import java.lang.invoke.DontInline;
import java.lang.invoke.ForceInline;
import java.lang.invoke.Stable;
import sun.misc.Unsafe;

/**
 * What rewritten code calls where a trace is made ({@code --tool trace}; docs/research/trace.md):
 * events are words, which go one behind the other into a buffer of the thread's own.
 *
 * <p>The rules of {@link CctRuntime} hold. What travels as context is the address of the thread's
 * record, whose first word is the place of the next event and whose second is where the buffer is
 * full: behind that there is room for {@link #MOST} words, so that what belongs together is never
 * torn.
 */
public final class CctTrace {
    // Offsets in a record (crates/loadtime/src/tracing/record.rs).
    private static final long END = 8L;
    private static final long FULL = 16L;
    private static final long ASKED = 24L;
    private static final long OWNER = 32L;

    private static final long LIMIT = CctRuntime.LIMIT;

    // Kinds of events, shifted (crates/events/src/event.rs).
    private static final int PARTIAL = 4 << 25;
    private static final int BY_ID = 8 << 25;
    private static final int LEAF_BY_ID = BY_ID | 1;

    /** Bits of a MID that say whether a method calls others. */
    private static final long SLOT_BITS = 0x7FL;

    // Values of Class.cct$inherits (CctRuntime).
    private static final long INHERITS = 1L;
    private static final long OVERRIDES = 2L;

    /** An event of its own says of which class the receiver is. */
    private static final int RECEIVER = 2 << 25;
    private static final int MADE_BY_NATIVE = 16 << 25;

    /** Bits of the word that orders threads which say whose turn it is. */
    private static final long OWNERS = (1L << 24) - 1L;

    /** Bytes of {@link #nowhere}, and where in it words go. */
    private static final long NOWHERE = 128L;
    private static final long WORDS = 64L;

    /**
     * The address of a record that is always full, whose words nobody reads; 0 until something is
     * recorded. Stable: to compilers it is a constant from then on, and not to be tested any more.
     */
    @Stable
    @jdk.internal.vm.annotation.Stable
    private static long nowhere;

    /** The address of that word, in a trace that keeps the order between threads; otherwise 0. */
    private static long order;

    /** Whether receivers are recorded. */
    private static boolean receivers;

    private CctTrace() {}

    /** {@link CctHooks#boot}, in a class library that traces. */
    public static void boot() {
        Tracing.begin();
        CctHooks.boot();
    }

    /** From now on events are written; false without memory. Before any thread has a record. */
    static boolean begin() {
        try {
            Unsafe u = CctMemory.U;
            long address = u.allocateMemory(NOWHERE);
            u.putLong(null, address, 0L);
            u.putLong(null, address + END, 0L);
            nowhere = address;
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /**
     * An event of one word.
     *
     * <p>Where nothing is recorded it goes nowhere, by arithmetic and not by a jump: behind a jump
     * the compiler knows no more what the place of the next event is, and each event would have to
     * fetch from memory what the one before has just put there.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void event(long record, int word) {
        if (nowhere == 0L) {
            return;
        }
        Unsafe u = CctMemory.U;
        long to = record - (record - nowhere & record - LIMIT >> 63);
        long place = u.getLong(null, to);
        if (place >= u.getLong(null, to + END)) {
            place = full(to);
        }
        u.putInt(null, place, word);
        u.putLong(null, to, place + 4L);
    }

    /** An event of two words. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    private static void two(long record, int word, int second) {
        Unsafe u = CctMemory.U;
        long place = u.getLong(null, record);
        if (place >= u.getLong(null, record + END)) {
            place = full(record);
        }
        u.putInt(null, place, word);
        u.putInt(null, place + 4L, second);
        u.putLong(null, record, place + 8L);
    }

    /**
     * An event of three words: behind the first one the lower half of {@code others}, then the
     * upper one.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    private static void three(long record, int word, long others) {
        Unsafe u = CctMemory.U;
        long place = u.getLong(null, record);
        if (place >= u.getLong(null, record + END)) {
            place = full(record);
        }
        u.putInt(null, place, word);
        u.putInt(null, place + 4L, (int) others);
        u.putInt(null, place + 8L, (int) (others >>> 32));
        u.putLong(null, record, place + 12L);
    }

    /** A method begins that has a receiver. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void receiver(Object receiver, long record, int word) {
        if (receivers && record >= LIMIT) {
            ofClass(receiver.getClass(), record, word);
        } else {
            event(record, word);
        }
    }

    private static void ofClass(Class<?> type, long record, int word) {
        long number = type.cct$class;
        if (number == 0L) {
            number = Tracing.number(type);
            type.cct$class = number;
        }
        two(record, word | 1, RECEIVER | (int) (number - 1L));
    }

    /** From now on receivers are recorded. */
    public static void withReceivers() {
        receivers = true;
    }

    /** From now on the order between threads is kept, by the word at this address. */
    public static void withOrder(long address) {
        order = address;
    }

    /** An event of two words; the lower one comes first. */
    public static void wide(long record, long words) {
        if (record < LIMIT) {
            return;
        }
        two(record, (int) words, (int) (words >>> 32));
    }

    /** Behind an exception: how far the block came that was running, then what begins or ends. */
    public static void caught(long record, int partial, int word) {
        if (record < LIMIT) {
            return;
        }
        two(record, PARTIAL | partial, word);
    }

    /** {@link #caught} with an event of two words. */
    public static void caughtWide(long record, int partial, long words) {
        if (record < LIMIT) {
            return;
        }
        three(record, PARTIAL | partial, words);
    }

    /** A method without events of its own, called by one that has none. */
    public static void leafById(long record, long mid) {
        if (record < LIMIT) {
            return;
        }
        three(record, LEAF_BY_ID, mid);
    }

    /** The buffer is full, or it must be asked whose turn it is; the place of the next event. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static long full(long record) {
        if (record == nowhere) {
            return record + WORDS;
        }
        if (order != 0L) {
            // Here at each event, since buffers say that they are full. Who spoke last may go on
            // without further ado.
            Unsafe u = CctMemory.U;
            long place = u.getLong(null, record);
            if (place < u.getLong(null, record + FULL)
                && u.getLong(null, record + ASKED) == 0L
                && (u.getLong(null, order) & OWNERS) == u.getLong(null, record + OWNER)) {
                return place;
            }
        }
        return Tracing.flush(record);
    }

    /** In a method whose extent is recorded: one deeper in such methods, or back. */
    public static void extent(long record, int deeper) {
        if (record >= LIMIT) {
            Tracing.extent(record, deeper);
        }
    }

    // ---- objects and monitors (--allocations) ---------------------------------------------------

    /** Behind an instruction that has made an array. */
    public static void array(int length, long record, int word) {
        if (record >= LIMIT) {
            two(record, word, length);
        }
    }

    /**
     * Behind {@code multianewarray}, for each level but the outermost: which one is in the word's
     * upper bits.
     */
    public static void traceArrays(Object array, long record, int word) {
        if (record < LIMIT) {
            return;
        }
        long count = 1L;
        Object inner = array;
        for (int level = word >>> 16 & 0xFF; level > 0; level--) {
            Object[] outer = (Object[]) inner;
            if (outer.length == 0) {
                return;
            }
            count *= outer.length;
            inner = outer[0];
        }
        three(record, word, count & 0xFFFFFFFFL | (long) lengthOf(inner) << 32);
    }

    /** Elements of an array; 0 of what is none. */
    private static int lengthOf(Object array) {
        if (array instanceof Object[]) {
            return ((Object[]) array).length;
        }
        if (array instanceof byte[]) {
            return ((byte[]) array).length;
        }
        if (array instanceof char[]) {
            return ((char[]) array).length;
        }
        if (array instanceof int[]) {
            return ((int[]) array).length;
        }
        if (array instanceof long[]) {
            return ((long[]) array).length;
        }
        if (array instanceof boolean[]) {
            return ((boolean[]) array).length;
        }
        if (array instanceof short[]) {
            return ((short[]) array).length;
        }
        if (array instanceof float[]) {
            return ((float[]) array).length;
        }
        return array instanceof double[] ? ((double[]) array).length : 0;
    }

    /** Behind a call that leads to {@code Object.clone}. */
    public static void copy(Object made, long record) {
        result(made, record);
    }

    /** In the wrapper of a native that returns what it has made. */
    public static void result(Object made, long record) {
        if (record < LIMIT || made == null) {
            return;
        }
        Class<?> type = made.getClass();
        long number = type.cct$class;
        if (number == 0L) {
            number = Tracing.number(type);
            type.cct$class = number;
        }
        two(record, MADE_BY_NATIVE | (int) (number - 1L), lengthOf(made));
    }

    /** The same for an array of arrays: {@code lengths} says how many levels were made. */
    public static void resultArrays(Object made, Object lengths, long record) {
        Object array = made;
        long count = 1L;
        for (int level = ((int[]) lengths).length; level > 0 && array != null; level--) {
            for (long i = 0L; i < count; i++) {
                result(array, record);
            }
            if (level > 1) {
                Object[] outer = (Object[]) array;
                count *= outer.length;
                array = outer.length == 0 ? null : outer[0];
            }
        }
    }

    /**
     * Before a monitor is taken or given back, or behind that in a synchronized method: whose it
     * is.
     */
    public static void monitor(Object object, long record, int word) {
        if (record >= LIMIT && object != null) {
            two(record, word, Tracing.identity(object));
        }
    }

    // ---- callees without events of their own ----------------------------------------------------

    /**
     * Before a virtual call of {@code hashCode}: an event if it leads to {@code Object}'s native,
     * by the call site, or if that has none by its id.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void traceHashCode(Object receiver, long record, int word, long mid) {
        if (record < LIMIT || receiver == null) {
            return;
        }
        long inherits = receiver.getClass().cct$inherits;
        if (inherits != OVERRIDES && inherits(receiver.getClass(), inherits)) {
            if (word != 0) {
                event(record, word);
            } else {
                three(record, LEAF_BY_ID, mid);
            }
        }
    }

    private static boolean inherits(Class<?> type, long inherits) {
        if (inherits == 0L) {
            inherits = LoadTime.loaded() ? LoadTime.inheritsHashCode(type) : OVERRIDES;
            type.cct$inherits = inherits;
        }
        return inherits == INHERITS;
    }

    /**
     * Before a method handle's last step, which leads to {@code member}: a native begins, if it is
     * one.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void traceLink(Object member, long record) {
        if (record >= LIMIT && CctRuntime.isNative(member)) {
            nativeCall(CctNatives.ofMember(member), record);
        }
    }

    /**
     * {@link #traceLink} for a virtual method without arguments and with an {@code int} as result.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void traceLinkHashCode(Object receiver, Object member, long record) {
        if (record >= LIMIT && receiver != null && CctRuntime.isNative(member)) {
            long inherits = receiver.getClass().cct$inherits;
            if (inherits != OVERRIDES && inherits(receiver.getClass(), inherits)) {
                nativeCall(CctNatives.ofMember(member), record);
            }
        }
    }

    /** A native that is known by its id begins; if it calls nobody that is all. */
    static void nativeCall(long mid, long record) {
        if (mid != 0L) {
            three(record, (mid & SLOT_BITS) == 0L ? LEAF_BY_ID : BY_ID, mid);
        }
    }
}
