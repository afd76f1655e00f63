package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import sun.misc.Unsafe;

/** The data of a node that agents may read, by its address. */
public final class Counters {
    private Counters() {}

    public static long mid(long node) {
        return CctMemory.U.getLong(null, node);
    }

    /**
     * The node that contains a slot, with or without a call site in the slot's value. The slot may
     * also be the one after the last.
     */
    public static long owner(long slot) {
        return Tree.owner(slot & Layout.ADDRESS);
    }

    public static long calls(long node) {
        return CctMemory.U.getLong(null, node + Layout.CALLS);
    }

    public static long bytecodes(long node) {
        return calls(node) * Mids.onEntry(mid(node))
                + CctMemory.U.getLong(null, node + Layout.BYTECODES);
    }

    public static void reset(long node) {
        CctMemory.U.putLong(null, node + Layout.CALLS, 0L);
        CctMemory.U.putLong(null, node + Layout.BYTECODES, 0L);
    }

    /** The method of a node; null for a root and for an unknown MID. */
    public static MethodName method(long node) {
        long mid = mid(node);
        if (mid == Layout.ROOT_MID) {
            return null;
        }
        if (mid == Layout.MERGED_MID) {
            long record = CctMemory.U.getLong(null, node & Layout.CHUNK_MASK);
            return new MethodName(MergedContexts.name(CctMemory.U.getLong(null,
                    record + Layout.LACK)), "", "", false);
        }
        return Names.anyOf(mid);
    }

    /**
     * The caller's node; 0 for a root. Only the last sibling stores it, after all others that
     * follow {@code node}.
     */
    public static long parent(long node) {
        Unsafe u = CctMemory.U;
        if (u.getLong(null, node) == Layout.ROOT_MID) {
            return 0L;
        }
        long next = u.getLong(null, node + Layout.NEXT);
        while ((next & Layout.LAST) == 0L) {
            next = u.getLong(null, Layout.NEXT - next);
        }
        return Layout.LAST - next;
    }

    /** The bytecode index of the call in the caller's original code; -1 where it is not known. */
    public static int callSite(long node) {
        return (int) (Tree.site(node) >>> Layout.SITE_SHIFT) - 1;
    }

    public static long firstChild(long node) {
        return Tree.firstChild(node);
    }

    /** The next sibling; 0 for the last one. */
    public static long nextSibling(long node) {
        return Tree.nextSibling(node);
    }
}
