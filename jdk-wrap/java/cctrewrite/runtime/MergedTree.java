package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * Sums trees up into a new one. It follows parents and siblings without recursion, so deep trees
 * take no more stack.
 */
public final class MergedTree {
    private MergedTree() {}

    /** The root of the sum of the first {@code count} trees. */
    public static long of(int count) {
        long record = Tree.create();
        if (record == 0L) {
            throw new OutOfMemoryError("cctrewrite: no memory for a merged tree");
        }
        Unsafe u = CctMemory.U;
        long root = u.getLong(null, record + Layout.ROOT);
        TreeEntry[] all = Threads.snapshot();
        for (int i = 0; i < count; i++) {
            add(u.getLong(null, all[i].record + Layout.ROOT), root);
            long merged = u.getLong(null, all[i].record + Layout.MERGED);
            count(merged, Tree.merged(record, u.getLong(null, all[i].record + Layout.LACK)));
        }
        link(record);
        return root;
    }

    /** Adds the tree below {@code from} to the tree below {@code to}. */
    static void add(long from, long to) {
        Unsafe u = CctMemory.U;
        long source = from;
        long target = to;
        // If memory runs out, the target is the node for merged contexts. `absorbed` is the number
        // of levels for which it stays so; then the walk continues at `resume`.
        int absorbed = 0;
        long resume = 0L;
        while (true) {
            count(source, target);
            long child = Tree.firstChild(source);
            if (child == 0L) {
                while (source != from && Tree.nextSibling(source) == 0L) {
                    source = Counters.parent(source);
                    if (absorbed == 0) {
                        target = Counters.parent(target);
                    } else if (--absorbed == 0) {
                        target = resume;
                    }
                }
                if (source == from) {
                    return;
                }
                child = Tree.nextSibling(source);
                if (absorbed == 0) {
                    target = Counters.parent(target);
                } else if (--absorbed == 0) {
                    target = resume;
                }
            }
            source = child;
            if (absorbed > 0) {
                absorbed++;
            } else {
                long next = Tree.childOf(target, u.getLong(null, child), Tree.site(child));
                if (u.getLong(null, next) == Layout.MERGED_MID) {
                    absorbed = 1;
                    resume = target;
                }
                target = next;
            }
        }
    }

    private static void count(long from, long to) {
        Unsafe u = CctMemory.U;
        u.putLong(null, to + Layout.CALLS,
                u.getLong(null, to + Layout.CALLS) + u.getLong(null, from + Layout.CALLS));
        // The two MIDs may count different numbers of bytecodes on entry: the node for merged
        // contexts belongs to no method.
        long beside = Counters.bytecodes(from) - Counters.calls(from)
                * Mids.onEntry(Counters.mid(to));
        u.putLong(null, to + Layout.BYTECODES, u.getLong(null, to + Layout.BYTECODES) + beside);
    }

    /**
     * In a thread's tree the merged contexts are separate from the root. Here they become its
     * child, for readers of the tree.
     */
    private static void link(long record) {
        Unsafe u = CctMemory.U;
        long root = u.getLong(null, record + Layout.ROOT);
        long merged = u.getLong(null, record + Layout.MERGED);
        if (MergedContexts.any(record)) {
            long first = Tree.firstChild(root);
            if (first != 0L) {
                u.putLong(null, merged + Layout.NEXT, -first);
            }
            Tree.setFirstChild(root, merged);
        }
    }
}
