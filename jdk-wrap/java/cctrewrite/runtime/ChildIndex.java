package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * An index of the children of nodes that have many: a call finds one of 100,000 as fast as one of
 * twenty. Each tree has one index. It is a hash trie (Bagwell, 2001) in the tree's memory, with
 * tables of sixteen entries and four bits of the hash for each level.
 *
 * <p>{@link Tree#childOf} searches the {@link #LISTED} newest children of a node itself. The index
 * holds all older ones. Before the tree links a new child, it {@link #add}s the oldest child in
 * that list to the index. So a tree has no index if its nodes have few children. Readers of trees
 * follow children and siblings and never see an index. {@link RegionTree} allocates nodes itself
 * and does not search the index.
 *
 * <p>An entry has two words: a node and its parent, or a table, marked by {@link #TABLE}. The node
 * or the table is written last and by one store. So neither a reader nor code above a
 * StackOverflowError ever finds half an entry.
 */
final class ChildIndex {
    /** The number of newest children of a node that are not in the index. */
    static final int LISTED = 8;

    /**
     * Bit in the first word of an entry that leads to a table. Nodes and tables lie at multiples of
     * eight.
     */
    private static final long TABLE = 1L;
    private static final long ENTRY = 16L;
    private static final long SIZE = 16L * ENTRY;
    private static final int LEVELS = 16;

    private ChildIndex() {}

    /**
     * The child {@code mid} of {@code parent} from that call site, if it is in the index of the
     * tree; otherwise 0.
     */
    static long find(long record, long parent, long mid, long site) {
        Unsafe u = CctMemory.U;
        long table = u.getLong(null, record + Layout.CHILD_INDEX);
        if (table == 0L) {
            return 0L;
        }
        long hash = hash(parent, mid, site);
        while (true) {
            long entry = table + (hash >>> 60) * ENTRY;
            long found = u.getLong(null, entry);
            if ((found & TABLE) == 0L) {
                return found != 0L && is(found, u.getLong(null, entry + 8L), parent, mid, site)
                        ? found : 0L;
            }
            table = found - TABLE;
            hash <<= 4;
        }
    }

    private static boolean is(long node, long its, long parent, long mid, long site) {
        return its == parent && CctMemory.U.getLong(null, node) == mid && Tree.site(node) == site;
    }

    /**
     * Adds a child of {@code parent}; it may be in the index already.
     *
     * @return false if there is no memory, or if another child has the same hash of 64 bits
     */
    static boolean add(long record, long parent, long node) {
        Unsafe u = CctMemory.U;
        long table = u.getLong(null, record + Layout.CHILD_INDEX);
        if (table == 0L) {
            table = table(record);
            if (table == 0L) {
                return false;
            }
            u.putLong(null, record + Layout.CHILD_INDEX, table);
        }
        long hash = hash(parent, u.getLong(null, node), Tree.site(node));
        for (int level = 0; level < LEVELS; level++) {
            long entry = table + (hash >>> 60) * ENTRY;
            long found = u.getLong(null, entry);
            if (found == 0L) {
                u.putLong(null, entry + 8L, parent);
                u.putLong(null, entry, node);
                return true;
            }
            if (found == node) {
                return true;
            }
            if ((found & TABLE) == 0L) {
                if (level == LEVELS - 1) {
                    return false;
                }
                // The node in this entry moves one level down.
                long below = table(record);
                if (below == 0L) {
                    return false;
                }
                long its = u.getLong(null, entry + 8L);
                long place = below + ((hash(its,
                        u.getLong(null, found), Tree.site(found)) << 4 * (level + 1)) >>> 60)
                        * ENTRY;
                u.putLong(null, place + 8L, its);
                u.putLong(null, place, found);
                u.putLong(null, entry, below + TABLE);
                found = below + TABLE;
            }
            table = found - TABLE;
            hash <<= 4;
        }
        return false;
    }

    /** An empty table; 0 when there is no memory. */
    private static long table(long record) {
        long table = Tree.allocate(record, SIZE);
        for (long word = table; table != 0L && word < table + SIZE; word += 8L) {
            CctMemory.U.putLong(null, word, 0L);
        }
        return table;
    }

    /**
     * Mixes all words into the upper bits: neighbours in memory, and similar MIDs, differ there.
     */
    private static long hash(long parent, long mid, long site) {
        long hash = parent * 0x9E3779B97F4A7C15L ^ mid * 0xC2B2AE3D27D4EB4FL
                ^ (site >>> Layout.SITE_SHIFT) * 0x165667B19E3779F9L;
        hash ^= hash >>> 32;
        return hash * 0xD6E8FEB86659FD93L;
    }
}
