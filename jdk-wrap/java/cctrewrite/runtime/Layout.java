package cctrewrite.runtime;

/**
 * Where the fields of nodes and tree records lie (docs/internals/runtime.md). All are 64-bit words;
 * the constants are folded by javac, so using them initialises nothing.
 */
public final class Layout {
    // A node.
    public static final long CALLS = 8L;
    /** Beside those that each call counts by its MID ({@link #ON_ENTRY_BITS}). */
    public static final long BYTECODES = 16L;
    /**
     * The newest child's address. Where call sites differ, the {@link #SITE} bits say from
     * which one this node itself was entered; they never change.
     */
    public static final long FIRST_CHILD = 24L;
    /**
     * The next sibling's address, negated; of the last one the parent's (of the root the record's),
     * negated and marked with {@link #LAST}. The only negative word in front of the slots.
     */
    public static final long NEXT = 32L;
    public static final long LAST = 1L;
    public static final long SLOTS = 40L;

    /** The address in a context, or in {@link #FIRST_CHILD}. */
    public static final long ADDRESS = (1L << 48) - 1L;
    /**
     * The rest of it: the call site, as the bytecode index in the caller's original code plus one;
     * 0 for none, and where call sites are merged.
     */
    public static final long SITE = ~ADDRESS;
    public static final int SITE_SHIFT = 48;

    /** The bits of a MID that hold its number of slots. */
    public static final long SLOT_BITS = 0x7FL;
    /**
     * Those that hold how many bytecodes each entry counts without adding them to the node, from
     * this one on; and all that are no hash.
     */
    public static final int ON_ENTRY_SHIFT = 7;
    public static final long ON_ENTRY_BITS = 0x1FL << ON_ENTRY_SHIFT;
    public static final long SHAPE_BITS = SLOT_BITS | ON_ENTRY_BITS;
    public static final long ROOT_MID = 1L;
    public static final long MERGED_MID = 2L;
    /** Of what a slot may lead to instead of a node ({@link Dispatch}). */
    public static final long TABLE_MID = 3L;
    /**
     * As many as a node may have, so that whatever site leads out of the merged contexts finds a
     * slot.
     */
    public static final int MERGED_SLOTS = 64;

    // A tree's record, at the start of its first chunk.
    public static final long ACTIVATION = 8L;
    public static final long NEXT_TREE = 16L;
    public static final long ROOT = 24L;
    /**
     * Where the next node goes, and in the upper 16 bits how many chunks of the current run come
     * behind that one.
     */
    public static final long FREE = 32L;
    public static final long FREE_CHUNK = 1L << 48;
    /** Why contexts were merged, if they were: {@link #OUT_OF_MEMORY}, {@link #BOUND_REACHED}. */
    public static final long LACK = 40L;
    public static final long OUT_OF_MEMORY = 1L;
    public static final long BOUND_REACHED = 2L;
    public static final long NODES = 48L;
    public static final long SERIAL = 56L;
    public static final long THREADS = 64L;
    public static final long MERGED = 72L;
    public static final long CHUNKS = 80L;
    public static final long GRANULARITY = 88L;
    /** Two words that serve as parent and slot of a node without slots ({@link Tree#slotOf}). */
    public static final long STAND_IN = 96L;
    /**
     * How many nodes the tree may have before it asks {@link Bound} again; without a bound, as many
     * as it likes.
     */
    public static final long PERMITTED = 112L;
    // For readers from outside (Arena): whose tree it is, by numbers of texts, and what is
    // recorded.
    public static final long NAME = 120L;
    public static final long GROUP = 128L;
    public static final long DAEMON = 136L;
    /** The record of the tree's newest region, and in that one of the next. */
    public static final long REGIONS = 144L;
    /**
     * 0 for what the board says of all, {@link #NOTHING}, {@link #SWITCHING}, or the record of the
     * region that is being recorded.
     */
    public static final long OPEN = 152L;
    public static final long NOTHING = 1L;
    public static final long SWITCHING = 2L;
    /** Tables that no slot needs any more. */
    public static final long TABLES = 160L;
    /** The first table of the {@link ChildIndex}, or 0. */
    public static final long CHILD_INDEX = 168L;
    public static final long RECORD_SIZE = 176L;

    /** Marks the first word of {@link #STAND_IN}; no negated address is that small. */
    public static final long STAND_IN_MARK = Long.MIN_VALUE;
    public static final long SMALLEST_NEGATED = -1L << 48;

    public static final int CHUNK = 4096;
    public static final long CHUNK_MASK = -4096L;
    /** The most chunks a tree takes at once. */
    public static final int LONGEST_RUN = 16;

    private Layout() {}
}
