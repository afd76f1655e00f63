package cctrewrite.runtime;

import java.util.ArrayList;
import sun.misc.Unsafe;

/**
 * Recording that is switched on and off while the program runs (docs/use/parts.md): by the program
 * (`cctrewrite.api.Recording`), or at the first entry of a method. In bypass. One lock protects all
 * of it; under the lock the runtime waits only for memory and its tables.
 */
public final class Regions {
    // The requests of the program; the rewriter has the same numbers (hooks.rs).
    static final int START = 0;
    static final int STOP = 1;
    static final int START_ALL = 2;
    static final int STOP_ALL = 3;
    static final int ACTIVE = 4;

    /** The default name: it is recorded until the program switches. */
    private static final String OWN = "";

    private static final Object LOCK = new Object();

    /** The name under which threads without a setting of their own are recorded; null for none. */
    private static String all = Settings.RECORD.equals("regions") || Settings.START_AT != null
            ? null : OWN;

    private static final String NO_REGION =
            "nothing was to be recorded but regions (-Dcctrewrite.record=regions), and none was "
            + "started; call cctrewrite.api.Recording.start()";
    private static final String NOT_ENTERED =
            "everything was to be recorded from the first entry of a method on "
            + "(-Dcctrewrite.start-at), which has not been entered: ";

    /**
     * The number of switches (on, off, or to another name), and the number of switches to a name.
     */
    private static long switches;
    private static long starts;

    /** The number of region trees for which there was no memory. */
    private static long failures;

    /**
     * Whether all counts are valid; false if memory ran out between a region's start and its end.
     */
    private static boolean sound = true;

    private Regions() {}

    /** The tree of a thread under one name. */
    static final class Region {
        final String name;
        final long record;
        final Region next;

        Region(String name, long record, Region next) {
            this.name = name;
            this.record = record;
            this.next = next;
        }
    }

    /**
     * Handles a switch by the program.
     *
     * @param context the current thread's, which has a tree
     * @param name the region's name, a {@code String}; null is the empty name
     * @return whether the thread is recorded from now on
     */
    public static boolean control(long context, Object name, int what) {
        TreeEntry entry = Threads.of(context);
        String to = what == STOP || what == STOP_ALL ? null : name == null ? OWN : (String) name;
        room(8);
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                if (what == START_ALL || what == STOP_ALL) {
                    turnAll(to);
                } else if (what != ACTIVE) {
                    count(turn(entry, to), to);
                    entry.differs = !same(entry.region, all);
                }
                return current(entry) != null;
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** Makes a stack overflow happen here, before anything has changed. */
    private static int room(int levels) {
        long a = levels;
        long b = 2L * a;
        long c = 3L * a;
        return levels == 0 ? 0 : room(levels - 1) + (int) (a + b + c);
    }

    /**
     * Records everything from now on: a thread enters one of the methods given by
     * -Dcctrewrite.start-at.
     */
    public static void startAt() {
        if (Tracing.on()) {
            Tracing.startAt();
            return;
        }
        room(8);
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                turnAll(OWN);
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /**
     * Why the profile is empty; null if recording was on at any time, or if no option explains it.
     */
    static String emptiness() {
        synchronized (LOCK) {
            if (starts > 0L) {
                return null;
            }
        }
        if (Settings.START_AT != null) {
            return NOT_ENTERED + Settings.START_AT;
        }
        return Settings.RECORD.equals("regions") ? NO_REGION : null;
    }

    private static boolean same(String a, String b) {
        return a == b || a != null && a.equals(b);
    }

    /**
     * The name under which the tree's thread is recorded. A tree that had no setting when all
     * threads were switched is younger than that switch, and takes its name.
     */
    private static String current(TreeEntry entry) {
        if (!entry.placed) {
            entry.region = all;
            entry.placed = true;
        }
        return entry.region;
    }

    private static void turnAll(String to) {
        boolean changed = !same(all, to);
        TreeEntry[] entries = Threads.snapshot();
        for (int i = 0; i < entries.length; i++) {
            changed |= turn(entries[i], to);
            entries[i].differs = false;
        }
        all = to;
        publishAll();
        count(changed, to);
    }

    /** Shows readers in other processes how threads without a setting of their own are recorded. */
    private static void publishAll() {
        Arena.put(Arena.ALL, Arena.name(all));
    }

    /** Writes the initial state, before the first thread is recorded. */
    public static void begin() {
        synchronized (LOCK) {
            publishAll();
        }
    }

    private static void count(boolean changed, String to) {
        if (changed) {
            switches++;
            Arena.put(Arena.SWITCHES, switches);
            if (to != null) {
                starts++;
            }
        }
    }

    /** Switches one tree. Returns whether anything changes. */
    private static boolean turn(TreeEntry entry, String to) {
        String from = current(entry);
        if (same(from, to)) {
            return false;
        }
        // First the code that needs the Java heap.
        Region ends = from == null ? null : region(entry, from);
        Region starts = to == null ? null : region(entry, to);
        Unsafe u = CctMemory.U;
        u.putLong(null, entry.record + Layout.OPEN, Layout.SWITCHING);
        u.fullFence();
        if (ends != null) {
            RegionTree.add(entry.record, ends.record, 1L);
        }
        if (starts != null) {
            RegionTree.add(entry.record, starts.record, -1L);
        }
        u.fullFence();
        u.putLong(null, entry.record + Layout.OPEN, starts == null
                ? Layout.NOTHING : starts.record);
        entry.region = to != null && starts == null ? null : to;
        return true;
    }

    /** The tree for the recording under a name; null if there is no memory. */
    private static Region region(TreeEntry entry, String name) {
        for (Region r = entry.regions; r != null; r = r.next) {
            if (r.name.equals(name)) {
                return r;
            }
        }
        long record = Tree.create();
        if (record == 0L) {
            failures++;
            Arena.put(Arena.REGION_FAILURES, failures);
            return null;
        }
        Unsafe u = CctMemory.U;
        u.putLong(null, record + Layout.NAME, Arena.name(name));
        u.putLong(null, record + Layout.REGIONS, entry.regions == null ? 0L : entry.regions.record);
        u.fullFence();
        u.putLong(null, entry.record + Layout.REGIONS, record);
        entry.regions = new Region(name, record, entry.regions);
        return entry.regions;
    }

    // ---- the profile ----------------------------------------------------------------------------

    /** Whether the profile contains less than everything. */
    static boolean used() {
        synchronized (LOCK) {
            return switches > 0L || all == null;
        }
    }

    /**
     * The rows of the profile. Switches the recording off: the profile must not contain what runs
     * from now on.
     */
    static TreeRow[] rows(TreeEntry[] entries) {
        ArrayList<TreeRow> rows = new ArrayList<TreeRow>();
        synchronized (LOCK) {
            for (int i = 0; i < entries.length; i++) {
                TreeEntry entry = entries[i];
                String open = current(entry);
                if (entry.regions == null && open != null) {
                    // Recorded from its beginning to its end.
                    add(rows, new TreeRow(entry, i, entry.record, open));
                    continue;
                }
                turn(entry, null);
                for (Region r = entry.regions; r != null; r = r.next) {
                    sound &= RegionTree.prune(r.record);
                    add(rows, new TreeRow(entry, i, r.record, r.name));
                }
            }
        }
        return rows.toArray(new TreeRow[0]);
    }

    private static void add(ArrayList<TreeRow> rows, TreeRow row) {
        long root = CctMemory.U.getLong(null, row.record + Layout.ROOT);
        if (Counters.firstChild(root) != 0L || MergedContexts.any(row.record)) {
            rows.add(row);
        }
    }

    /** Adds notes for the reader of the profile. */
    static void notes(ArrayList<String> to) {
        synchronized (LOCK) {
            if (switches > 0L) {
                to.add("recording was switched " + switches + (switches == 1L ? " time" : " times")
                        + ": what was executed while it was off is not in the profile");
            }
            if (failures > 0L) {
                to.add("memory for the trees ran out: " + failures
                        + " regions of threads were not recorded");
            }
            if (!sound) {
                to.add("memory for the trees ran out while recording was switched: contexts whose "
                        + "counts are not known were left out");
            }
        }
    }
}
