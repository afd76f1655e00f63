package cctrewrite.runtime;

/**
 * The bound on the contexts of all threads together ({@code -Dcctrewrite.max-contexts}). Trees get
 * shares of it, so that they need not wait for each other at each context. A share that a tree does
 * not use is lost to the others; that is why it grows with the tree and is never large.
 *
 * <p>Runs with the thread's context as it is: no library code may be called here (see
 * {@link CctRuntime}).
 */
public final class Bound {
    /** The most contexts that a tree is permitted at once. */
    private static final long LARGEST_SHARE = 64L;

    private static boolean given;

    /** What no tree has got yet. */
    private static long left;

    private Bound() {}

    /** Sets the bound, before there is any tree. */
    public static synchronized void set(long contexts) {
        given = true;
        left = contexts;
    }

    /** Whether there is one. */
    static boolean given() {
        return given;
    }

    /**
     * How many contexts more a tree may have that has {@code nodes}: a quarter of that, at least 1;
     * 0 when the bound is reached, for ever.
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
