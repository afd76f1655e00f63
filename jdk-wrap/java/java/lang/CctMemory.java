package java.lang;

import cctrewrite.runtime.Arena;
import sun.misc.Unsafe;

/**
 * The memory of all trees: regions of the file that the load-time library maps ({@link Arena}),
 * without it of the C heap, cut into chunks of 4096 bytes that are aligned to their size, so that
 * the tree of a node is found by masking its address.
 *
 * <p>Initialised by {@link CctHooks#boot()} and not touched before: {@code Unsafe} may not be used
 * earlier in the start of the JVM. From then on {@link #U} and {@link #SENTINEL} are constants to
 * the compiler.
 */
public final class CctMemory {
    /** Bytes of a chunk, and its alignment. */
    public static final int CHUNK = 4096;

    /** Chunks of a region, the unit in which memory is asked for. */
    private static final int REGION_CHUNKS = 256;

    /**
     * Bytes that the C heap must have beside a region. They are left to the JVM and to the program,
     * whose own requests would be the next to fail: the JVM's compilers end it then.
     */
    private static final long RESERVE = 64L << 20;

    public static final Unsafe U = Unsafe.getUnsafe();

    /**
     * What an empty call-site slot points to: a node whose MID, 0, no method has. Nothing but the
     * MID of it is ever read.
     */
    public static final long SENTINEL = sentinel();

    /** Bytes that may still be taken ({@code -Dcctrewrite.max}). */
    private static long budget = Long.MAX_VALUE;

    /**
     * The part of the newest region that has not been handed out: where it begins, and how many
     * chunks it has.
     */
    private static long free;
    private static long left;

    private CctMemory() {}

    /**
     * Limits the memory of all trees together; past it, contexts are merged as if the C heap were
     * exhausted.
     */
    public static synchronized void limit(long bytes) {
        budget = bytes;
    }

    /**
     * Hands out a run of at most {@code want} (at least 1, at most 16) neighbouring chunks.
     *
     * @return the address of the first chunk plus the number of chunks, or 0 when there is no
     *     memory
     */
    public static long take(int want) {
        boolean pinned = CctPin.pin();
        try {
            return takeLocked(want);
        } finally {
            CctPin.unpin(pinned);
        }
    }

    private static synchronized long takeLocked(int want) {
        if (left == 0L && !region()) {
            return 0L;
        }
        long count = min(want, left);
        // From the end, by one store: whatever happens, no chunk is handed out twice.
        left -= count;
        return free + left * CHUNK + count;
    }

    /** Not {@code Math.min}: that is library code, which would be recorded. */
    private static long min(long a, long b) {
        return a < b ? a : b;
    }

    private static boolean region() {
        // What the C heap gives is not aligned.
        boolean mapped = Arena.isOpen();
        long bytes = (long) (mapped ? REGION_CHUNKS : REGION_CHUNKS + 1) * CHUNK;
        if (budget < bytes) {
            return false;
        }
        long address = mapped ? Arena.memory() : allocate(bytes);
        if (address == 0L) {
            // For ever: what is given back later is the program's.
            budget = 0L;
            return false;
        }
        budget -= bytes;
        free = (address + CHUNK - 1) & -CHUNK;
        left = REGION_CHUNKS;
        return true;
    }

    /**
     * A region, or 0 when the C heap does not have {@link #RESERVE} bytes more. These are never
     * touched. In bypass: the VM runs the constructor of an OutOfMemoryError as Java code, and from
     * JDK 9 on the allocation itself is Java code.
     */
    private static long allocate(long bytes) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            U.freeMemory(U.allocateMemory(bytes + RESERVE));
            return U.allocateMemory(bytes);
        } catch (OutOfMemoryError e) {
            return 0L;
        } finally {
            thread.cct$context = context;
        }
    }

    private static long sentinel() {
        long node = U.allocateMemory(8L);
        U.putLong(null, node, 0L);
        return node;
    }
}
