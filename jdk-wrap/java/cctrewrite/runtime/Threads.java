package cctrewrite.runtime;

import java.lang.ref.WeakReference;
import sun.misc.Unsafe;

/**
 * All trees and their threads. When a thread has ended, its tree is leased to the next thread with
 * a similar name, and accumulates further counts. So a program that starts threads for ever does
 * not need memory for ever.
 *
 * <p>All of it is in bypass. Code under the lock calls nothing that could wait for another thread.
 * It initialises no class, and from the library it uses only {@code String.equals},
 * {@code Reference.get} and {@code Thread.isAlive}.
 */
public final class Threads {
    /**
     * How many trees of a group a new thread tests before it gets a new one. The next search
     * continues where the last one stopped.
     */
    private static final int SEARCH = 32;

    private static final Object LOCK = new Object();

    private static TreeEntry[] entries = new TreeEntry[16];
    private static int count;

    /** Groups of similar thread names, an open hash table. */
    private static Group[] groups = new Group[64];
    private static int groupCount;

    /** The newest record; the records form a list ({@link Layout#NEXT_TREE}). */
    private static long newest;

    /** False with {@code -Dcctrewrite.threads=each}. */
    private static boolean leasing = true;

    /** True with {@code -Dcctrewrite.system-threads=no}. */
    private static boolean leavesOutSystem;

    /** A tree whose entry did not fit into the tables; 0 if there is none. */
    private static long spare;

    /** The number of threads that could not be attached because there was no memory for a tree. */
    private static long failures;

    private Threads() {}

    /** The trees of threads with similar names, and the index where the next search starts. */
    private static final class Group {
        final String name;
        TreeEntry[] members = new TreeEntry[4];
        int size;
        int cursor;

        Group(String name) {
            this.name = name;
        }
    }

    static void leaveOutSystem(boolean leftOut) {
        leavesOutSystem = leftOut;
    }

    static boolean leavesOutSystem() {
        return leavesOutSystem;
    }

    /**
     * Whether this is one of the JVM's own threads: in the root group, in one of the groups that
     * the class library has for its helpers, or a carrier of virtual threads. A program's thread in
     * one of these groups also counts as a system thread. A program's own group of the same name
     * has another parent group.
     */
    static boolean isSystem(Thread thread) {
        ThreadGroup group = group(thread);
        if (group == null) {
            return false;
        }
        String name = group.getName();
        if (!"system".equals(name) && !"InnocuousThreadGroup".equals(name)
                && !"CarrierThreads".equals(name)) {
            return false;
        }
        try {
            ThreadGroup parent = group.getParent();
            return "system".equals(name) ? parent == null : parent != null
                    && "system".equals(parent.getName());
        } catch (SecurityException e) {
            // The runtime asks for permission only for a group that has a parent.
            return !"system".equals(name);
        }
    }

    /**
     * The thread's group; null for a thread that JNI attaches, until it has one (see
     * {@link #isDaemon}).
     */
    private static ThreadGroup group(Thread thread) {
        try {
            return thread.getThreadGroup();
        } catch (NullPointerException e) {
            return null;
        }
    }

    static void leasing(boolean allowed) {
        leasing = allowed;
    }

    /**
     * Gives the current thread its tree.
     *
     * @return the slot of the tree's root, or 0 if there is no memory; for an excluded thread, the
     *     context of a thread in bypass
     */
    public static long attach(Thread thread) {
        if (leavesOutSystem && isSystem(thread)) {
            return CctRuntime.BYPASS;
        }
        if (Tracing.on()) {
            return Tracing.attach(thread);
        }
        String name = thread.getName();
        String group = normalise(name);
        boolean daemon = isDaemon(thread);
        WeakReference<Thread> owner = new WeakReference<Thread>(thread);
        TreeEntry entry = null;
        boolean pinned = CctPin.pin();
        try {
            if (leasing && group != null) {
                entry = lease(group, owner, name, daemon);
            }
            if (entry == null) {
                entry = add(new TreeEntry(group, owner, name, daemon));
            }
        } finally {
            CctPin.unpin(pinned);
        }
        if (entry == null) {
            return 0L;
        }
        if (CctRuntime.unattached() > 0) {
            // The code that counts them has no stack left for this call.
            Arena.put(Arena.UNATTACHED, CctRuntime.unattached());
        }
        Agents.attached(thread, entry);
        return CctMemory.U.getLong(null, entry.record + Layout.ROOT) + Layout.SLOTS;
    }

    /**
     * Whether the thread is a daemon. A thread that JNI attaches runs its own constructor. Since
     * JDK 19 the constructor creates the object that holds this flag, so that object may still be
     * missing.
     */
    static boolean isDaemon(Thread thread) {
        try {
            return thread.isDaemon();
        } catch (NullPointerException e) {
            return false;
        }
    }

    /**
     * Gives a new entry its tree; null if there is no memory. Creates the tree before it takes the
     * lock, since creating it waits for another lock. It enlarges the tables before it changes
     * anything in them. Another thread can lease the tree only when the profile contains it.
     * Pinned, as is {@link #lease}.
     */
    private static TreeEntry add(TreeEntry entry) {
        Unsafe u = CctMemory.U;
        long record = 0L;
        synchronized (LOCK) {
            record = spare;
            spare = 0L;
        }
        if (record == 0L) {
            record = Tree.create();
        }
        long name = Arena.name(entry.name);
        long groupName = Arena.name(entry.group);
        boolean taken = false;
        synchronized (LOCK) {
            if (record == 0L) {
                failures++;
                Arena.put(Arena.FAILURES, failures);
                return null;
            }
            try {
                if (count == entries.length) {
                    TreeEntry[] more = new TreeEntry[2 * count];
                    System.arraycopy(entries, 0, more, 0, count);
                    entries = more;
                }
                Group group = entry.group == null ? null : group(entry.group);
                if (group != null && group.size == group.members.length) {
                    TreeEntry[] more = new TreeEntry[2 * group.size];
                    System.arraycopy(group.members, 0, more, 0, group.size);
                    group.members = more;
                }
                entry.record = record;
                u.putLong(null, record + Layout.NAME, name);
                u.putLong(null, record + Layout.GROUP, groupName);
                u.putLong(null, record + Layout.DAEMON, entry.daemon ? 1L : 0L);
                u.putLong(null, record + Layout.SERIAL, count);
                u.putLong(null, record + Layout.THREADS, 1L);
                u.putLong(null, record + Layout.NEXT_TREE, newest);
                if (Bound.given()) {
                    u.putLong(null, record + Layout.PERMITTED, 0L);
                }
                u.fullFence();
                newest = record;
                Arena.put(Arena.NEWEST, record);
                entries[count++] = entry;
                if (group != null) {
                    group.members[group.size++] = entry;
                }
                taken = true;
                return entry;
            } finally {
                if (!taken) {
                    spare = record;
                }
            }
        }
    }

    private static TreeEntry lease(String name, WeakReference<Thread> owner, String threadName,
            boolean daemon) {
        synchronized (LOCK) {
            Group group = groups[place(groups, name)];
            if (group == null) {
                return null;
            }
            int tries = group.size < SEARCH ? group.size : SEARCH;
            for (int i = 0; i < tries; i++) {
                TreeEntry entry = group.members[group.cursor];
                group.cursor = group.cursor + 1 == group.size ? 0 : group.cursor + 1;
                if (entry.thread() == null && !entry.differs) {
                    entry.owner = owner;
                    entry.name = threadName;
                    entry.daemon = daemon;
                    Unsafe u = CctMemory.U;
                    u.putLong(null, entry.record + Layout.DAEMON, daemon ? 1L : 0L);
                    u.putLong(null, entry.record + Layout.THREADS,
                            u.getLong(null, entry.record + Layout.THREADS) + 1L);
                    return entry;
                }
            }
            return null;
        }
    }

    /** The group of that name, created if there is none. Under the lock. */
    private static Group group(String name) {
        int place = place(groups, name);
        if (groups[place] == null) {
            if (2 * groupCount >= groups.length) {
                Group[] more = new Group[2 * groups.length];
                for (int i = 0; i < groups.length; i++) {
                    if (groups[i] != null) {
                        more[place(more, groups[i].name)] = groups[i];
                    }
                }
                groups = more;
                place = place(groups, name);
            }
            groups[place] = new Group(name);
            groupCount++;
        }
        return groups[place];
    }

    private static int place(Group[] table, String name) {
        int place = name.hashCode() & (table.length - 1);
        while (table[place] != null && !table[place].name.equals(name)) {
            place = (place + 1) & (table.length - 1);
        }
        return place;
    }

    /** {@code name} with one {@code #} instead of each run of decimal digits. */
    public static String normalise(String name) {
        if (name == null) {
            return null;
        }
        int length = name.length();
        char[] text = new char[length];
        int size = 0;
        for (int i = 0; i < length; i++) {
            char c = name.charAt(i);
            if (c < '0' || c > '9') {
                text[size++] = c;
            } else if (i == 0 || name.charAt(i - 1) < '0' || name.charAt(i - 1) > '9') {
                text[size++] = '#';
            }
        }
        return Mutf8.string(text, size);
    }

    /** All trees in the order of their creation. */
    public static TreeEntry[] snapshot() {
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                TreeEntry[] all = new TreeEntry[count];
                System.arraycopy(entries, 0, all, 0, count);
                return all;
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** The entry of the tree that {@code node} belongs to. */
    static TreeEntry of(long node) {
        Unsafe u = CctMemory.U;
        int serial =
                (int) u.getLong(null, u.getLong(null, node & Layout.CHUNK_MASK) + Layout.SERIAL);
        boolean pinned = CctPin.pin();
        try {
            synchronized (LOCK) {
                return entries[serial];
            }
        } finally {
            CctPin.unpin(pinned);
        }
    }

    /** The number of threads that could not be attached because there was no memory for a tree. */
    static long failures() {
        synchronized (LOCK) {
            return failures;
        }
    }
}
