package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import java.util.Arrays;

/**
 * Sums the counts of threads by method, for the program ({@code cctrewrite.api.Counts}).
 *
 * <p>In bypass. The owner of a tree goes on counting while another thread reads it.
 */
public final class ThreadCounts {
    // Whose trees are read; the API has the same numbers.
    private static final int OWN = 0;

    // The result: flags, then for each method its id, its calls and its bytecodes, sorted by id.
    private static final int ROWS = 1;
    private static final int ROW = 3;
    private static final long NO_BYTECODES = 1L;
    private static final long MERGED = 2L;

    private static final Object LOCK = new Object();

    /** Places of the ids in {@link #names}: looking up a name is expensive. Under the lock. */
    private static LongMap known;

    private static MethodName[] names = new MethodName[256];

    /** The method at which sums begin, with dots; null for the whole tree. */
    private final String root;

    /** Whether an id may stand for a type or a column, whose calls are other numbers. */
    private final boolean hasOtherIds;

    /** 1 for the ids of the method at which sums begin, 0 for others. */
    private final LongMap roots = new LongMap(256);

    /** Places of the ids in {@link #sums}. */
    private final LongMap places = new LongMap(256);

    /** Id, calls and bytecodes of each method. */
    private long[] sums = new long[256 * ROW];

    private boolean merged;

    private ThreadCounts(String root) {
        this.root = root;
        hasOtherIds = Description.countsObjects() || Description.hasColumns();
    }

    /**
     * The sums.
     *
     * @param slot a slot of the current thread's tree
     * @param root a method, with dots, with or without descriptor; null for everything
     * @param whose 0 for the current thread, 1 for all others but the JVM's own
     */
    public static long[] read(long slot, String root, int whose) {
        TreeEntry own = Threads.of(slot);
        TreeEntry[] entries = whose == OWN ? new TreeEntry[] {own} : Threads.snapshot();
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                ThreadCounts counts = new ThreadCounts(root);
                try {
                    for (int i = 0; i < entries.length; i++) {
                        if (whose == OWN || entries[i] != own && !isOfTheJvm(entries[i])) {
                            counts.add(entries[i].record);
                        }
                    }
                    return counts.rows();
                } finally {
                    counts.places.free();
                    counts.roots.free();
                }
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** Class with dots, name and descriptor of a method's id; null if no known class has it. */
    public static String[] name(long mid) {
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                MethodName name = known(mid);
                return name == null ? null
                        : new String[] {dotted(name), name.name(), name.descriptor()};
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    private static boolean isOfTheJvm(TreeEntry entry) {
        Thread thread = entry.thread();
        return thread != null && Threads.isSystem(thread);
    }

    /** Adds a tree, walked without recursion: trees can be deep. */
    private void add(long record) {
        long top = CctMemory.U.getLong(null, record + Layout.ROOT);
        boolean isMerged = MergedContexts.any(record);
        merged |= isMerged;
        if (isMerged && root == null) {
            add(CctMemory.U.getLong(null, record + Layout.MERGED), Layout.MERGED_MID);
        }
        long node = top;
        int depth = 0;
        // The depth of the outermost entry of the method at which sums begin.
        int begin = root == null ? 0 : Integer.MAX_VALUE;
        while (true) {
            if (node != top) {
                long mid = Counters.mid(node);
                if (depth < begin && isRoot(mid)) {
                    begin = depth;
                }
                if (depth >= begin && isMethod(mid)) {
                    add(node, mid);
                }
            }
            long next = Tree.firstChild(node);
            if (next != 0L) {
                depth++;
                node = next;
                continue;
            }
            while (true) {
                if (depth == begin && root != null) {
                    begin = Integer.MAX_VALUE;
                }
                if (node == top) {
                    return;
                }
                next = Tree.nextSibling(node);
                if (next != 0L) {
                    node = next;
                    break;
                }
                node = Counters.parent(node);
                depth--;
            }
        }
    }

    private void add(long node, long mid) {
        long place = places.get(mid);
        if (place < 0L) {
            place = places.size();
            places.put(mid, place);
            if (place * ROW == sums.length) {
                sums = Arrays.copyOf(sums, 2 * sums.length);
            }
            sums[(int) place * ROW] = mid;
        }
        int row = (int) place * ROW;
        sums[row + 1] += Counters.calls(node);
        sums[row + 2] += Counters.bytecodes(node);
    }

    private long[] rows() {
        long[] ids = places.keys();
        Arrays.sort(ids);
        long[] rows = new long[ROWS + ids.length * ROW];
        rows[0] = (Description.countsBytecodes() ? 0L : NO_BYTECODES) | (merged ? MERGED : 0L);
        for (int i = 0; i < ids.length; i++) {
            System.arraycopy(sums, (int) places.get(ids[i]) * ROW, rows, ROWS + i * ROW, ROW);
        }
        return rows;
    }

    private boolean isMethod(long mid) {
        if (!hasOtherIds) {
            return true;
        }
        MethodName name = known(mid);
        return name == null || !name.isType() && !name.isColumn();
    }

    private boolean isRoot(long mid) {
        long is = roots.get(mid);
        if (is < 0L) {
            is = isNamed(known(mid)) ? 1L : 0L;
            roots.put(mid, is);
        }
        return is == 1L;
    }

    private boolean isNamed(MethodName name) {
        if (name == null) {
            return false;
        }
        String named = dotted(name) + '.' + name.name();
        return root.equals(named) || root.equals(named + name.descriptor());
    }

    private static String dotted(MethodName name) {
        return name.className().replace('/', '.');
    }

    /** The name behind an id; null if no known class has it. Under the lock. */
    private static MethodName known(long mid) {
        if (known == null) {
            known = new LongMap(256);
        }
        long place = known.get(mid);
        if (place >= 0L) {
            return names[(int) place];
        }
        MethodName name = Names.anyOf(mid);
        if (name != null) {
            int size = known.size();
            if (size == names.length) {
                names = Arrays.copyOf(names, 2 * size);
            }
            names[size] = name;
            known.put(mid, size);
        }
        return name;
    }
}
