package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * What a slot leads to where callees take turns: a table of the children that were asked for, found
 * by their MIDs, instead of the child that was asked for last. It is for a slot what a
 * polymorphic inline cache is for a call (Hölzle, Chambers and Ungar, 1991), and lies among the
 * nodes of the tree. Readers of trees go by children and siblings and never see one.
 *
 * <p>Whether callees take turns is told from samples, since to count calls by slots would cost more
 * than is gained. A slot gets a table when the wrong child was in it at one of the calls whose
 * number is a multiple of {@link #TRIAL}, and loses it when one child alone had all of
 * {@link #PERIOD} calls, but for a sixteenth.
 */
final class Dispatch {
    /** Calls between looks at whether the wrong child is in a slot; a power of two. */
    private static final long TRIAL = 32L;

    /** Calls of a child between looks at whether its slot needs a table; a power of two. */
    private static final long PERIOD = 1024L;

    // A table. Its MID is no method's. Each child has two entries where it may be: neighbours.
    private static final long PARENT = 8L;
    /**
     * The child at whose call the table was looked at last, and how many calls all its children had
     * then.
     */
    private static final long LOOKED = 16L;
    private static final long SEEN = 24L;
    private static final long ENTRIES = 32L;
    private static final long END = ENTRIES + 8L * 8L;

    private Dispatch() {}

    /** The child {@code mid} of the table's parent. As {@link Tree#child}. */
    static long child(long slot, long table, long mid) {
        Unsafe u = CctMemory.U;
        // The bits of a MID above those that are its number of slots are as good as random.
        long place = (mid >>> 4) & 0x38L;
        long node = u.getLong(null, table + ENTRIES + place);
        if (u.getLong(null, node) != mid) {
            node = u.getLong(null, table + ENTRIES + (place ^ 8L));
            if (u.getLong(null, node) != mid) {
                return asked(table, place, mid);
            }
        }
        if ((u.getLong(null, node + Layout.CALLS) & (PERIOD - 1L)) == 0L) {
            look(slot, table, node);
        }
        return node;
    }

    /** A child that is not in the table. */
    private static long asked(long table, long place, long mid) {
        Unsafe u = CctMemory.U;
        long node = Tree.childOf(u.getLong(null, table + PARENT), mid, 0L);
        if (u.getLong(null, node) == mid) {
            boolean taken = u.getLong(null, table + ENTRIES + place) != CctMemory.SENTINEL;
            u.putLong(null, table + ENTRIES + (taken ? place ^ 8L : place), node);
        }
        return node;
    }

    /**
     * The slot, in which {@code last} was when another child was asked for, gets a table if it is
     * time for that.
     */
    static void offer(long slot, long last) {
        Unsafe u = CctMemory.U;
        if ((u.getLong(null, last + Layout.CALLS) & (TRIAL - 1L)) != 0L) {
            return;
        }
        long parent = Tree.owner(slot);
        long record = u.getLong(null, parent & Layout.CHUNK_MASK);
        if (slot == record + Layout.STAND_IN + 8L) {
            return;
        }
        long table = u.getLong(null, record + Layout.TABLES);
        if (table != 0L) {
            u.putLong(null, record + Layout.TABLES, u.getLong(null, table + PARENT));
        } else {
            table = Tree.allocate(record, END);
            if (table == 0L) {
                return;
            }
        }
        u.putLong(null, table, Layout.TABLE_MID);
        u.putLong(null, table + PARENT, parent);
        u.putLong(null, table + LOOKED, 0L);
        for (long entry = table + ENTRIES; entry < table + END; entry += 8L) {
            u.putLong(null, entry, CctMemory.SENTINEL);
        }
        u.putLong(null, slot, table);
    }

    /** The slot loses its table if {@code node} has had all calls of late. */
    private static void look(long slot, long table, long node) {
        Unsafe u = CctMemory.U;
        long calls = 0L;
        for (long entry = table + ENTRIES; entry < table + END; entry += 8L) {
            long child = u.getLong(null, entry);
            if (child != CctMemory.SENTINEL) {
                calls += u.getLong(null, child + Layout.CALLS);
            }
        }
        if (u.getLong(null, table + LOOKED) == node
                && calls - u.getLong(null, table + SEEN) < PERIOD + PERIOD / 16L) {
            long record = u.getLong(null, node & Layout.CHUNK_MASK);
            u.putLong(null, slot, node);
            u.putLong(null, table + PARENT, u.getLong(null, record + Layout.TABLES));
            u.putLong(null, record + Layout.TABLES, table);
            return;
        }
        u.putLong(null, table + LOOKED, node);
        u.putLong(null, table + SEEN, calls);
    }
}
