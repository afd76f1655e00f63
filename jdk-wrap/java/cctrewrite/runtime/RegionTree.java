package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * The tree of a thread's region: for each context, the sum of the counts while recording was on.
 * The thread's own tree counts all the time. At the start of a region the runtime subtracts its
 * counts here, and at the end it adds them. In bypass, under the lock of {@link Regions}, on any
 * thread.
 *
 * <p>The children of a node are in the order of the thread's tree, where newer children come before
 * older ones. So one pass walks both trees in parallel, in time linear in the number of contexts.
 */
final class RegionTree {
    private RegionTree() {}

    /**
     * Adds the counts of the tree {@code live}, times {@code sign}, to {@code region}. Both are
     * records. Needs only a few stack frames.
     */
    static void add(long live, long region, long sign) {
        Unsafe u = CctMemory.U;
        long from = u.getLong(null, live + Layout.ROOT);
        long source = from;
        long target = u.getLong(null, region + Layout.ROOT);
        // The search for the next target starts at the first child of `parent`, or after `last` if
        // that is not 0.
        long parent = 0L;
        long last = 0L;
        // If memory runs out, the target is the node for merged contexts. `absorbed` is the number
        // of levels for which it stays so. Then the walk continues with the siblings of the missing
        // target.
        int absorbed = 0;
        while (true) {
            count(source, target, sign);
            long child = Tree.firstChild(source);
            if (child != 0L) {
                if (absorbed == 0) {
                    parent = target;
                    last = 0L;
                } else {
                    absorbed++;
                }
            } else {
                while (source != from && (child = Tree.nextSibling(source)) == 0L) {
                    source = Counters.parent(source);
                    if (absorbed == 0) {
                        target = Counters.parent(target);
                    } else if (--absorbed == 0) {
                        target = last == 0L ? parent : Counters.parent(last);
                    }
                }
                if (source == from) {
                    break;
                }
                if (absorbed == 0) {
                    last = target;
                } else if (absorbed == 1) {
                    absorbed = 0;
                }
            }
            source = child;
            if (absorbed == 0) {
                target = child(parent, last, u.getLong(null, child), Tree.site(child));
                if (u.getLong(null, target) == Layout.MERGED_MID) {
                    absorbed = 1;
                }
            }
        }
        count(u.getLong(null, live + Layout.MERGED),
                Tree.merged(region, u.getLong(null, live + Layout.LACK)), sign);
    }

    private static void count(long from, long to, long sign) {
        Unsafe u = CctMemory.U;
        u.putLong(null, to + Layout.CALLS,
                u.getLong(null, to + Layout.CALLS) + sign * u.getLong(null, from + Layout.CALLS));
        // The two MIDs may count different numbers of bytecodes on entry: the node for merged
        // contexts belongs to no method.
        long beside = Counters.bytecodes(from) - Counters.calls(from)
                * Mids.onEntry(Counters.mid(to));
        u.putLong(null, to + Layout.BYTECODES,
                u.getLong(null, to + Layout.BYTECODES) + sign * beside);
    }

    /**
     * The child after {@code last}, or the first one of {@code parent} if {@code last} is 0. If
     * that is not {@code mid} from that call site, this method creates the node there. Without
     * memory, returns the node for merged contexts.
     */
    private static long child(long parent, long last, long mid, long site) {
        Unsafe u = CctMemory.U;
        long next = last == 0L ? Counters.firstChild(parent) : Tree.nextSibling(last);
        if (next != 0L && u.getLong(null, next) == mid && Tree.site(next) == site) {
            return next;
        }
        long record = u.getLong(null, (last == 0L ? parent : last) & Layout.CHUNK_MASK);
        // No slots, since no code calls from this tree.
        long node = Tree.node(record, parent, mid, site, 0);
        if (node == 0L) {
            return Tree.merged(record, Layout.OUT_OF_MEMORY);
        }
        if (last != 0L) {
            // The next sibling, or the parent if there is none.
            u.putLong(null, node + Layout.NEXT, u.getLong(null, last + Layout.NEXT));
            u.putLong(null, last + Layout.NEXT, -node);
            return node;
        }
        if (next != 0L) {
            u.putLong(null, node + Layout.NEXT, -next);
        }
        Tree.setFirstChild(parent, node);
        return node;
    }

    /**
     * Removes contexts that did not run in any region, unless one of their descendants did. For the
     * profile, when nothing is added any more.
     *
     * @return whether all counts were valid; invalid ones are set to 0
     */
    static boolean prune(long region) {
        Unsafe u = CctMemory.U;
        boolean sound = settle(u.getLong(null, region + Layout.MERGED));
        // At each depth: the node whose children are visited, and the last child that stays.
        long[] parents = new long[64];
        long[] kept = new long[64];
        int depth = 0;
        long node = u.getLong(null, region + Layout.ROOT);
        while (true) {
            sound &= settle(node);
            long next = Tree.firstChild(node);
            if (next != 0L) {
                if (depth == kept.length) {
                    parents = longer(parents);
                    kept = longer(kept);
                }
                // Each child that stays is linked again.
                parents[depth] = node;
                kept[depth] = 0L;
                depth++;
                node = next;
                continue;
            }
            while (true) {
                if (depth == 0) {
                    return sound;
                }
                next = Tree.nextSibling(node);
                long parent = parents[depth - 1];
                boolean stays = Counters.calls(node) != 0L || Counters.bytecodes(node) != 0L
                        || Counters.firstChild(node) != 0L;
                if (stays) {
                    link(parent, kept[depth - 1], node);
                    kept[depth - 1] = node;
                }
                if (next != 0L) {
                    node = next;
                    break;
                }
                link(parent, kept[depth - 1], 0L);
                node = parent;
                depth--;
            }
        }
    }

    private static long[] longer(long[] array) {
        long[] more = new long[2 * array.length];
        System.arraycopy(array, 0, more, 0, array.length);
        return more;
    }

    /**
     * Links {@code node} after the child {@code last} of {@code parent}. For both, 0 means that
     * there is none.
     */
    private static void link(long parent, long last, long node) {
        Unsafe u = CctMemory.U;
        if (last == 0L) {
            Tree.setFirstChild(parent, node);
        } else {
            u.putLong(null, last + Layout.NEXT, node == 0L ? Layout.LAST - parent : -node);
        }
    }

    /**
     * Resets negative counts: they occur if memory ran out between a region's start and its end.
     */
    private static boolean settle(long node) {
        if (Counters.calls(node) >= 0L && Counters.bytecodes(node) >= 0L) {
            return true;
        }
        Counters.reset(node);
        return false;
    }
}
