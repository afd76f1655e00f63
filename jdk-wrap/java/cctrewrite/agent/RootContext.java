package cctrewrite.agent;

import cctrewrite.runtime.TreeEntry;

/**
 * The root of a thread's tree. Threads that follow one another under like names may share one tree
 * (unless {@code -Dcctrewrite.threads=each} was given): its counters are then the sum.
 */
public final class RootContext extends Context {
    private final TreeEntry entry;

    /** For the runtime. */
    public RootContext(long node, TreeEntry entry) {
        super(node);
        this.entry = entry;
    }

    /** The thread that the tree now serves; null when it has ended. */
    public Thread thread() {
        return entry.thread();
    }

    /**
     * The thread's name; for a tree that served several threads, their common name with {@code #}
     * for digits.
     */
    public String threadName() {
        return entry.displayName();
    }

    /** How many threads the tree has served. */
    public long threads() {
        return entry.threads();
    }

    public boolean isDaemon() {
        return entry.isDaemon();
    }
}
