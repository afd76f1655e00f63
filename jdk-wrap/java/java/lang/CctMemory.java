package java.lang;

import cctrewrite.runtime.Arena;
import sun.misc.Unsafe;

/**
 * The memory of all trees. It consists of regions of the file that the load-time library maps
 * ({@link Arena}), or without the library, of the C heap. Regions are cut into chunks of 4096 bytes
 * that are aligned to their size. So masking a node's address leads to its tree.
 *
 * <p>{@link CctHooks#boot()} initialises this class. Earlier in the start of the JVM no code may
 * use it, since {@code Unsafe} is not available there. From then on {@link #U} and
 * {@link #SENTINEL} are constants for the compiler.
 */
public final class CctMemory {
    /** Size of a chunk in bytes, and its alignment. */
    public static final int CHUNK = 4096;

    /** Chunks of a region, the unit of allocation. */
    private static final int REGION_CHUNKS = 256;

    /**
     * Bytes that the C heap must have in addition to a region. They are left to the JVM and to the
     * program, whose own requests would fail next. (If a compiler of the JVM gets no memory, it
     * ends the JVM.)
     */
    private static final long RESERVE = 64L << 20;

    public static final Unsafe U = Unsafe.getUnsafe();

    /**
     * The node that an empty call-site slot leads to. Its MID, 0, is the MID of no method. Only
     * this word of it is ever read.
     */
    public static final long SENTINEL = sentinel();

    /** Bytes that trees may still take ({@code -Dcctrewrite.max}). */
    private static long budget = Long.MAX_VALUE;

    /** The free part of the newest region: its start, and its number of chunks. */
    private static long free;
    private static long left;

    private CctMemory() {}

    /**
     * Limits the memory of all trees together. Past the limit, contexts are merged as if the C heap
     * were exhausted.
     */
    public static synchronized void limit(long bytes) {
        budget = bytes;
    }

    /**
     * Allocates a run of at most {@code want} (at least 1, at most 16) neighbouring chunks.
     *
     * @return the address of the first chunk plus the number of chunks, or 0 if there is no memory
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
        // Take from the end, with one store: so no chunk can be allocated twice.
        left -= count;
        return free + left * CHUNK + count;
    }

    /** Does not use {@code Math.min}: that is library code, which would be recorded. */
    private static long min(long a, long b) {
        return a < b ? a : b;
    }

    private static boolean region() {
        // An allocation of the C heap is not aligned.
        boolean mapped = Arena.isOpen();
        long bytes = (long) (mapped ? REGION_CHUNKS : REGION_CHUNKS + 1) * CHUNK;
        if (budget < bytes) {
            return false;
        }
        long address = mapped ? Arena.memory() : allocate(bytes);
        if (address == 0L) {
            // Stop for good: memory that is freed later belongs to the program.
            budget = 0L;
            return false;
        }
        budget -= bytes;
        free = (address + CHUNK - 1) & -CHUNK;
        left = REGION_CHUNKS;
        return true;
    }

    /**
     * A region, or 0 if the C heap does not have {@link #RESERVE} more bytes. The reserve is never
     * touched. In bypass, for two reasons: the VM runs the constructor of an OutOfMemoryError as
     * Java code, and from JDK 9 on the allocation itself is Java code.
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
