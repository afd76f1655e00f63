package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * What a thread has executed in regions: for each context of its tree the sum of what was counted
 * there while recording was on. The thread's own tree goes on counting all the time; at the start
 * of a region its counts are taken off here, and at the region's end they are added. In bypass,
 * under the lock of {@link Regions}, by whatever thread.
 *
 * <p>The children of a node stand in the order of the thread's tree, whose newer children come in
 * front of the older ones. So both are walked side by side, in a time that grows with the number of
 * contexts only.
 */
final class RegionTree {
    private RegionTree() {}

    /**
     * Adds the counts of the tree {@code live}, times {@code sign}, to {@code region}: both
     * records. Calls nothing that needs more than a few frames.
     */
    static void add(long live, long region, long sign) {
        Unsafe u = CctMemory.U;
        long from = u.getLong(null, live + Layout.ROOT);
        long source = from;
        long target = u.getLong(null, region + Layout.ROOT);
        // Where the next target is looked for: the first child of `parent`, or what is behind
        // `last` if that is not 0.
        long parent = 0L;
        long last = 0L;
        // Once memory runs out the target stays the node for merged contexts, this many levels
        // deep; then it goes on with the siblings of what it would have been.
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
        // What the MID of the one counts on entry that of the other need not: the node for merged
        // contexts is of no method.
        long beside = Counters.bytecodes(from) - Counters.calls(from)
                * Mids.onEntry(Counters.mid(to));
        u.putLong(null, to + Layout.BYTECODES,
                u.getLong(null, to + Layout.BYTECODES) + sign * beside);
    }

    /**
     * The child behind {@code last} (of {@code parent} the first when that is 0) if it is
     * {@code mid} from that call site; otherwise there is none yet, and it is made there. Without
     * memory the node for merged contexts.
     */
    private static long child(long parent, long last, long mid, long site) {
        Unsafe u = CctMemory.U;
        long next = last == 0L ? Counters.firstChild(parent) : Tree.nextSibling(last);
        if (next != 0L && u.getLong(null, next) == mid && Tree.site(next) == site) {
            return next;
        }
        long record = u.getLong(null, (last == 0L ? parent : last) & Layout.CHUNK_MASK);
        // Nobody calls from here: no slots.
        long node = Tree.node(record, parent, mid, site, 0);
        if (node == 0L) {
            return Tree.merged(record, Layout.OUT_OF_MEMORY);
        }
        if (last != 0L) {
            // The next sibling, or if there is none the parent.
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
     * Takes out what was not executed in any region, unless something was below it; for the
     * profile, when nothing will be added any more.
     *
     * @return whether all counts made sense; those that did not are 0
     */
    static boolean prune(long region) {
        Unsafe u = CctMemory.U;
        boolean sound = settle(u.getLong(null, region + Layout.MERGED));
        // At each depth: the node whose children are gone through, and the last of these that
        // stays.
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
                // Joined again child by child.
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
     * Puts {@code node} behind the child {@code last} of {@code parent}; 0 means none in both
     * places.
     */
    private static void link(long parent, long last, long node) {
        Unsafe u = CctMemory.U;
        if (last == 0L) {
            Tree.setFirstChild(parent, node);
        } else {
            u.putLong(null, last + Layout.NEXT, node == 0L ? Layout.LAST - parent : -node);
        }
    }

    /** Negative counts come of memory that ran out between a region's start and its end. */
    private static boolean settle(long node) {
        if (Counters.calls(node) >= 0L && Counters.bytecodes(node) >= 0L) {
            return true;
        }
        Counters.reset(node);
        return false;
    }
}
