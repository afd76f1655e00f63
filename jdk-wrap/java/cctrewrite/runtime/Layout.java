package cctrewrite.runtime;

/**
 * Offsets of the fields of nodes and tree records (docs/internals/runtime.md). All fields are
 * 64-bit words. javac folds the constants, so their use initialises no class.
 */
public final class Layout {
    // A node.
    public static final long CALLS = 8L;
    /** Bytecodes, without those that each call counts by its MID ({@link #ON_ENTRY_BITS}). */
    public static final long BYTECODES = 16L;
    /**
     * The newest child's address. Where call sites are distinguished, the {@link #SITE} bits hold
     * the call site from which this node itself was entered. These bits never change.
     */
    public static final long FIRST_CHILD = 24L;
    /**
     * The next sibling's address, negated. The last sibling has the parent's address instead (the
     * root has the record's), negated and marked with {@link #LAST}. This is the only negative word
     * before the slots.
     */
    public static final long NEXT = 32L;
    public static final long LAST = 1L;
    public static final long SLOTS = 40L;

    /** The bits of the address in a context, or in {@link #FIRST_CHILD}. */
    public static final long ADDRESS = (1L << 48) - 1L;
    /**
     * The remaining bits: the call site, as the bytecode index in the caller's original code plus
     * one. 0 means no call site, or that call sites are merged.
     */
    public static final long SITE = ~ADDRESS;
    public static final int SITE_SHIFT = 48;

    /** The bits of a MID that hold its number of slots. */
    public static final long SLOT_BITS = 0x7FL;
    /**
     * The bits that hold how many bytecodes each entry counts without adding them to the node start
     * here. {@link #SHAPE_BITS} are all bits of a MID that are no hash.
     */
    public static final int ON_ENTRY_SHIFT = 7;
    public static final long ON_ENTRY_BITS = 0x1FL << ON_ENTRY_SHIFT;
    public static final long SHAPE_BITS = SLOT_BITS | ON_ENTRY_BITS;
    public static final long ROOT_MID = 1L;
    public static final long MERGED_MID = 2L;
    /** The MID of a table, to which a slot may lead instead of a node ({@link Dispatch}). */
    public static final long TABLE_MID = 3L;
    /**
     * The largest number of slots of a node, so that each call site in merged contexts has a slot.
     */
    public static final int MERGED_SLOTS = 64;

    // A tree's record, at the start of its first chunk.
    public static final long ACTIVATION = 8L;
    public static final long NEXT_TREE = 16L;
    public static final long ROOT = 24L;
    /**
     * The address of the next node. The upper 16 bits hold the number of chunks that follow in the
     * current run.
     */
    public static final long FREE = 32L;
    public static final long FREE_CHUNK = 1L << 48;
    /** Why contexts were merged, if any were: {@link #OUT_OF_MEMORY}, {@link #BOUND_REACHED}. */
    public static final long LACK = 40L;
    public static final long OUT_OF_MEMORY = 1L;
    public static final long BOUND_REACHED = 2L;
    public static final long NODES = 48L;
    public static final long SERIAL = 56L;
    public static final long THREADS = 64L;
    public static final long MERGED = 72L;
    public static final long CHUNKS = 80L;
    public static final long GRANULARITY = 88L;
    /** Two words that replace parent and slot for a node without slots ({@link Tree#slotOf}). */
    public static final long STAND_IN = 96L;
    /**
     * How many nodes the tree may have before it asks {@link Bound} again; unlimited without a
     * bound.
     */
    public static final long PERMITTED = 112L;
    // For readers in other processes (Arena): the tree's thread, as numbers of texts, and the
    // recorded region.
    public static final long NAME = 120L;
    public static final long GROUP = 128L;
    public static final long DAEMON = 136L;
    /** The record of the tree's newest region; in a region's record, that of the next region. */
    public static final long REGIONS = 144L;
    /**
     * The current recording of the thread: 0 if the board's word for all threads holds,
     * {@link #NOTHING}, {@link #SWITCHING}, or the record of the current region.
     */
    public static final long OPEN = 152L;
    public static final long NOTHING = 1L;
    public static final long SWITCHING = 2L;
    /** The list of tables that no slot needs any more. */
    public static final long TABLES = 160L;
    /** The first table of the {@link ChildIndex}, or 0. */
    public static final long CHILD_INDEX = 168L;
    public static final long RECORD_SIZE = 176L;

    /** Marks the first word of {@link #STAND_IN}; it is less than every negated address. */
    public static final long STAND_IN_MARK = Long.MIN_VALUE;
    public static final long SMALLEST_NEGATED = -1L << 48;

    public static final int CHUNK = 4096;
    public static final long CHUNK_MASK = -4096L;
    /** The largest number of chunks that a tree takes at once. */
    public static final int LONGEST_RUN = 16;

    private Layout() {}
}
