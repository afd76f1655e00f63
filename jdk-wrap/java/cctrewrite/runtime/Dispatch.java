package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * A table of children for a slot whose callees alternate. Without a table, a slot leads to the
 * child of the last call. With a table, the slot finds several children by their MIDs. It is for a
 * slot what a polymorphic inline cache is for a call (Hölzle, Chambers and Ungar, 1991). The table
 * lies among the nodes of the tree. Readers of trees follow children and siblings and never see a
 * table.
 *
 * <p>Samples show whether callees alternate, since counting the calls of each slot would cost more
 * than the table saves. A slot gets a table if it held the wrong child at a call whose number is a
 * multiple of {@link #TRIAL}. It loses the table if one child alone had {@link #PERIOD} calls,
 * except for a sixteenth.
 */
final class Dispatch {
    /**
     * The number of calls between two tests whether the slot holds the wrong child; a power of two.
     */
    private static final long TRIAL = 32L;

    /**
     * The number of calls of a child between two tests whether its slot still needs a table; a
     * power of two.
     */
    private static final long PERIOD = 1024L;

    // A table. Its MID is the MID of no method. Each child can be in two neighbouring entries.
    private static final long PARENT = 8L;
    /**
     * At the last test: the child whose call led to it, and the sum of the calls of all children.
     */
    private static final long LOOKED = 16L;
    private static final long SEEN = 24L;
    private static final long ENTRIES = 32L;
    private static final long END = ENTRIES + 8L * 8L;

    private Dispatch() {}

    /** The child {@code mid} of the table's parent, as {@link Tree#child} returns it. */
    static long child(long slot, long table, long mid) {
        Unsafe u = CctMemory.U;
        // A MID's low bits are its number of slots; the bits above are as good as random.
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

    /** Finds a child that is not in the table, and enters it. */
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
     * Gives the slot a table, if its next test is due. The slot held {@code last} when the program
     * called another child.
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

    /**
     * Removes the slot's table if nearly all calls since the last test were calls of {@code node}.
     */
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
