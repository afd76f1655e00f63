package cctrewrite.runtime;

import cctrewrite.agent.RootContext;
import java.lang.ref.WeakReference;

/**
 * What the runtime knows of a tree beside its record: whose it is. Written under the lock of
 * {@link Threads}.
 */
public final class TreeEntry {
    /** Address of the tree's record, set once, before anybody else knows the entry. */
    public long record;

    /**
     * The threads among which the tree may be handed on: their names, runs of digits replaced by
     * {@code #}.
     */
    public final String group;

    /** Weak, because a Thread may hold the loaders of a whole application. */
    WeakReference<Thread> owner;

    /** The owner's name when it attached. */
    String name;

    boolean daemon;

    /** The agent's handle, made when an agent is first told of the tree. */
    RootContext root;

    /** The {@link #owner} of which an agent has been told. */
    WeakReference<Thread> registered;

    /**
     * Under which name the thread is recorded, or null, if {@link #placed}. Under the lock of
     * {@link Regions}, like the next two.
     */
    String region;

    boolean placed;

    /** What was recorded under each name, if it was not all. */
    Regions.Region regions;

    /**
     * Whether the thread itself is recorded otherwise than others; then nobody else gets its tree.
     */
    volatile boolean differs;

    TreeEntry(String group, WeakReference<Thread> owner, String name, boolean daemon) {
        this.group = group;
        this.owner = owner;
        this.name = name;
        this.daemon = daemon;
    }

    /** The thread that the tree serves; null when it has ended. */
    public Thread thread() {
        Thread thread = owner.get();
        return thread != null && thread.isAlive() ? thread : null;
    }

    /** How many threads the tree has served. */
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
