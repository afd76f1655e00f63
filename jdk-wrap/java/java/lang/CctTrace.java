package java.lang;

import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Tracing;
import java.lang.invoke.DontInline;
import java.lang.invoke.ForceInline;
import java.lang.invoke.Stable;
import sun.misc.Unsafe;

/**
 * The methods that rewritten code calls to write a trace ({@code --tool trace};
 * docs/research/trace.md). Events are words; the code appends them to a buffer of the thread.
 *
 * <p>The rules of {@link CctRuntime} hold. The context is the address of the thread's record. The
 * record's first word is the address of the next event, and its second word is the limit at which
 * the buffer counts as full. After that limit there is room for several words (`SPARE` in
 * crates/loadtime/src/tracing/record.rs). So words that belong together are always in one buffer.
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

    /** The bits of a MID that show whether a method calls others. */
    private static final long SLOT_BITS = 0x7FL;

    // Values of Class.cct$inherits (CctRuntime).
    private static final long INHERITS = 1L;
    private static final long OVERRIDES = 2L;

    /** A separate event contains the receiver's class. */
    private static final int RECEIVER = 2 << 25;
    private static final int MADE_BY_NATIVE = 16 << 25;

    /** The bits of the order word that contain the thread whose turn it is. */
    private static final long OWNERS = (1L << 24) - 1L;

    /** Size of {@link #nowhere} in bytes, and the offset for words in it. */
    private static final long NOWHERE = 128L;
    private static final long WORDS = 64L;

    /**
     * The address of a record that is always full and whose words are never read; 0 until something
     * is recorded. Stable: for the compilers it is a constant from then on, so compiled code does
     * not test it.
     */
    @Stable
    @jdk.internal.vm.annotation.Stable
    private static long nowhere;

    /** The address of the order word, in a trace with global order; otherwise 0. */
    private static long order;

    /** Whether receivers are recorded. */
    private static boolean receivers;

    private CctTrace() {}

    /** Called by the class library instead of {@link CctHooks#boot}, if it writes traces. */
    public static void boot() {
        Tracing.begin();
        CctHooks.boot();
    }

    /**
     * Starts writing events, before any thread has a record. Returns false if there is no memory.
     */
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
     * Writes an event of one word.
     *
     * <p>While nothing is recorded, the event goes to {@link #nowhere}. Arithmetic selects that
     * record, and not a jump: after a jump the compiler would not know the address of the next
     * event any more. Each event would then load the address that the previous one has just stored.
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

    /** Writes an event of two words. */
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
     * Writes an event of three words: the first word, then the lower half of {@code others}, then
     * the upper half.
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

    /** Entry of a method that has a receiver. */
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

    /** Starts recording receivers. */
    public static void withReceivers() {
        receivers = true;
    }

    /** Starts recording the order between threads, with the order word at this address. */
    public static void withOrder(long address) {
        order = address;
    }

    /** Writes an event of two words; the lower half comes first. */
    public static void wide(long record, long words) {
        if (record < LIMIT) {
            return;
        }
        two(record, (int) words, (int) (words >>> 32));
    }

    /**
     * Start of an exception handler: writes how much of the interrupted block ran, then the event
     * that begins or ends.
     */
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

    /** Call of a method without events by a method without events. */
    public static void leafById(long record, long mid) {
        if (record < LIMIT) {
            return;
        }
        three(record, LEAF_BY_ID, mid);
    }

    /**
     * Handles a full buffer, or a possible change of turn between threads. Returns the address of
     * the next event.
     */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static long full(long record) {
        if (record == nowhere) {
            return record + WORDS;
        }
        if (order != 0L) {
            // With an order word this runs at each event, since all buffers count as full. The
            // thread that wrote the last event may continue at once.
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

    /** Enters (1) or leaves (-1) a method whose extent is recorded. */
    public static void extent(long record, int deeper) {
        if (record >= LIMIT) {
            Tracing.extent(record, deeper);
        }
    }

    // ---- objects and monitors (--allocations) ---------------------------------------------------

    /** Runs after an instruction that has allocated an array. */
    public static void array(int length, long record, int word) {
        if (record >= LIMIT) {
            two(record, word, length);
        }
    }

    /**
     * Runs after {@code multianewarray}, for each level except the outermost. The word's upper bits
     * contain the level.
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

    /** The length of an array; 0 for an object that is no array. */
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

    /** Runs after a call that leads to {@code Object.clone}. */
    public static void copy(Object made, long record) {
        result(made, record);
    }

    /** Records the object that a native returns. The native's wrapper calls this. */
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

    /**
     * Records an array of arrays that a native returns; {@code lengths} has one element for each
     * allocated level.
     */
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
     * Records a monitor's object: before the program enters or exits the monitor, or after that in
     * a synchronized method.
     */
    public static void monitor(Object object, long record, int word) {
        if (record >= LIMIT && object != null) {
            two(record, word, Tracing.identity(object));
        }
    }

    // ---- callees without events of their own ----------------------------------------------------

    /**
     * Runs before a virtual call of {@code hashCode}: writes an event if it leads to
     * {@code Object}'s native. The event contains the call site, or the native's id if the site has
     * no word.
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
     * Runs before a method handle's last step, which leads to {@code member}: writes the entry of a
     * native, if it is one.
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

    /**
     * Writes the entry of a native by its id. A native that calls nothing back needs no further
     * event.
     */
    static void nativeCall(long mid, long record) {
        if (mid != 0L) {
            three(record, (mid & SLOT_BITS) == 0L ? LEAF_BY_ID : BY_ID, mid);
        }
    }
}
