package cctrewrite.runtime;

import java.util.ArrayList;
import sun.misc.Unsafe;

/**
 * Contexts that have no node of their own: where, why, and the text for the profile
 * (docs/internals/runtime.md). In bypass, except for {@link #any}.
 */
final class MergedContexts {
    /**
     * The numbers of trees that merged contexts for lack of memory or because of the bound, and of
     * all trees.
     */
    private final int withoutMemory;
    private final int pastBound;
    private final int trees;

    private MergedContexts(int withoutMemory, int pastBound, int trees) {
        this.withoutMemory = withoutMemory;
        this.pastBound = pastBound;
        this.trees = trees;
    }

    /** Counts in the trees with these records. */
    static MergedContexts of(long[] records) {
        int withoutMemory = 0;
        int pastBound = 0;
        for (int i = 0; i < records.length; i++) {
            if (any(records[i])) {
                long why = CctMemory.U.getLong(null, records[i] + Layout.LACK);
                withoutMemory += (why & Layout.OUT_OF_MEMORY) != 0L ? 1 : 0;
                pastBound += (why & Layout.BOUND_REACHED) != 0L ? 1 : 0;
            }
        }
        return new MergedContexts(withoutMemory, pastBound, records.length);
    }

    /**
     * Whether a tree has counts in its node for merged contexts. In a region these may be bytecodes
     * only.
     */
    static boolean any(long record) {
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, record + Layout.MERGED);
        return (u.getLong(null, node + Layout.CALLS)
                | u.getLong(null, node + Layout.BYTECODES)) != 0L;
    }

    /** The text that replaces a method's name. */
    String name() {
        return name((withoutMemory > 0 ? Layout.OUT_OF_MEMORY : 0L)
                | (pastBound > 0 ? Layout.BOUND_REACHED : 0L));
    }

    /** The text for these reasons ({@link Layout#LACK}). */
    static String name(long why) {
        if ((why & Layout.BOUND_REACHED) == 0L) {
            return "[contexts merged: out of memory]";
        }
        String both = (why & Layout.OUT_OF_MEMORY) != 0L ? "out of memory, " : "";
        return "[contexts merged: " + both + "bound of " + Settings.MAX_CONTEXTS + ']';
    }

    /** Whether any tree has merged contexts. */
    boolean any() {
        return withoutMemory > 0 || pastBound > 0;
    }

    /** Adds notes for the reader of the profile. */
    void notes(ArrayList<String> to) {
        String what = ": contexts that came up later were merged under " + name() + ", in ";
        if (withoutMemory > 0) {
            to.add("memory for the trees ran out" + what + trees(withoutMemory));
        }
        if (pastBound > 0) {
            to.add("the bound on contexts (-Dcctrewrite.max-contexts=" + Settings.MAX_CONTEXTS
                    + ") was reached" + what + trees(pastBound));
        }
    }

    private String trees(int some) {
        return some + (some == 1 ? " tree of " : " trees of ") + trees;
    }
}
