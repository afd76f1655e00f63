package cctrewrite.runtime;

/** How MIDs follow from class hashes (docs/formats/index.md). */
final class Mids {
    private static final long GAMMA = 0x9E3779B97F4A7C15L;

    private Mids() {}

    /** The MID of method {@code k}, from 0, of the class with that hash. */
    static long of(long hash, int k, int slots) {
        return mix(hash + (k + 1) * GAMMA) & ~Layout.SLOT_BITS | slots;
    }

    /** The finaliser of splitmix64. */
    private static long mix(long z) {
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
