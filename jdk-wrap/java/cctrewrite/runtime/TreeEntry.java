package cctrewrite.runtime;

import cctrewrite.agent.RootContext;
import java.lang.ref.WeakReference;

/**
 * The data of a tree that is not in its record, such as its thread. Written under the lock of
 * {@link Threads}.
 */
public final class TreeEntry {
    /** Address of the tree's record. Set once, before other threads know the entry. */
    public long record;

    /**
     * The group of threads that may lease the tree: their names, with {@code #} for runs of digits.
     */
    public final String group;

    /** Weak, because a Thread may hold the loaders of a whole application. */
    WeakReference<Thread> owner;

    /** The owner's name when it attached. */
    String name;

    boolean daemon;

    /** The agent's handle, created at the first call of an agent for the tree. */
    RootContext root;

    /** The {@link #owner} that is registered with an agent. */
    WeakReference<Thread> registered;

    /**
     * The name under which the thread is recorded, or null for none; valid if {@link #placed}.
     * Under the lock of {@link Regions}, as are the next two fields.
     */
    String region;

    boolean placed;

    /** The trees of the thread's regions; null if everything was recorded under one name. */
    Regions.Region regions;

    /** Whether the thread has a setting of its own; then no other thread may lease its tree. */
    volatile boolean differs;

    TreeEntry(String group, WeakReference<Thread> owner, String name, boolean daemon) {
        this.group = group;
        this.owner = owner;
        this.name = name;
        this.daemon = daemon;
    }

    /** The thread that uses the tree; null if it has ended. */
    public Thread thread() {
        Thread thread = owner.get();
        return thread != null && thread.isAlive() ? thread : null;
    }

    /** The number of threads that have used the tree. */
    public long threads() {
        return CctMemory.U.getLong(null, record + Layout.THREADS);
    }

    /**
     * The name for the profile. A thread that was renamed and has ended is listed under the name it
     * had at its first entry. Reads the name from the thread: in bypass only.
     */
    public String displayName() {
        String text;
        if (threads() > 1L) {
            text = group;
        } else {
            Thread live = thread();
            text = live != null ? live.getName() : name;
        }
        return text != null ? text : "?";
    }

    /** Whether the (last) owner is or was a daemon. In bypass only. */
    public boolean isDaemon() {
        Thread live = thread();
        return live != null ? Threads.isDaemon(live) : daemon;
    }
}
