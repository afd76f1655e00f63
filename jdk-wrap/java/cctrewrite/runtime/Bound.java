package cctrewrite.runtime;

/**
 * The bound on the contexts of all threads together ({@code -Dcctrewrite.max-contexts}). Trees take
 * shares of it, so that they need not wait for each other at each context. The share that a tree
 * does not use is lost to the others. So the share grows with the tree and is never large.
 *
 * <p>The thread's context may be in any state: no library code may be called here (see
 * {@link CctRuntime}).
 */
public final class Bound {
    /** The largest share of a tree, in contexts. */
    private static final long LARGEST_SHARE = 64L;

    private static boolean given;

    /** The number of contexts that no tree has taken yet. */
    private static long left;

    private Bound() {}

    /** Sets the bound, before there is any tree. */
    public static synchronized void set(long contexts) {
        given = true;
        left = contexts;
    }

    /** Whether there is a bound. */
    static boolean given() {
        return given;
    }

    /**
     * Takes a share for a tree that has {@code nodes} contexts: a quarter of that, at least 1.
     * Returns 0 from the moment the bound is reached.
     */
    static long take(long nodes) {
        boolean pinned = CctPin.pin();
        try {
            return takeLocked(nodes < 8L ? 1L : nodes < 4L * LARGEST_SHARE
                    ? nodes >> 2 : LARGEST_SHARE);
        } finally {
            CctPin.unpin(pinned);
        }
    }

    private static synchronized long takeLocked(long most) {
        long share = most;
        if (share > left) {
            share = left;
        }
        left -= share;
        return share;
    }
}
