package cctrewrite.runtime;

/** Computes MIDs from class hashes (docs/reference/formats/index.md). */
final class Mids {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private Mids() {}

    /** The MID of method {@code k}, counted from 0, of the class with that hash. */
    static long of(long hash, int k, int slots, int onEntry) {
        return mix(hash + (k + 1) * GAMMA) & ~Layout.SHAPE_BITS
                | (long) onEntry << Layout.ON_ENTRY_SHIFT | slots;
    }

    /** The number of bytecodes that each entry counts without adding them to the node. */
    static long onEntry(long mid) {
        return (mid & Layout.ON_ENTRY_BITS) >> Layout.ON_ENTRY_SHIFT;
    }

    /** The finaliser of splitmix64. */
    private static long mix(long z) {
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
