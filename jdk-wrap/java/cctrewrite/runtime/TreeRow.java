package cctrewrite.runtime;

/** A tree as the profile lists it: sorted by the name of its thread, then by age. In bypass. */
final class TreeRow implements Comparable<TreeRow> {
    private static final int ENDED = 1;
    private static final int DAEMON = 2;

    final long record;
    final String name;
    final long threads;
    final int flags;
    private final byte[] utf8;
    private final int serial;

    TreeRow(TreeEntry entry, int serial) {
        this(entry, serial, entry.record, "");
    }

    /** The tree of a region. Its name follows the thread's name. */
    TreeRow(TreeEntry entry, int serial, long record, String region) {
        this.record = record;
        String thread = entry.displayName();
        name = region.length() == 0 ? thread : thread + " [" + region + ']';
        threads = entry.threads();
        flags = (entry.thread() == null ? ENDED : 0) | (entry.isDaemon() ? DAEMON : 0);
        utf8 = Mutf8.utf8(name);
        this.serial = serial;
    }

    @Override
    public int compareTo(TreeRow other) {
        int order = Mutf8.compare(utf8, 0, utf8.length, other.utf8, 0, other.utf8.length);
        return order != 0 ? order : serial - other.serial;
    }
}
