package cctrewrite.agent;

import cctrewrite.runtime.TreeEntry;

/**
 * The root of a thread's tree. Threads with similar names that follow one another may share one
 * tree (unless {@code -Dcctrewrite.threads=each} is given). The counters of a shared tree are sums.
 */
public final class RootContext extends Context {
    private final TreeEntry entry;

    /** For the runtime. */
    public RootContext(long node, TreeEntry entry) {
        super(node);
        this.entry = entry;
    }

    /** The thread that uses the tree now; null after its end. */
    public Thread thread() {
        return entry.thread();
    }

    /**
     * The thread's name. For a tree of several threads: their common name, with {@code #} for
     * digits.
     */
    public String threadName() {
        return entry.displayName();
    }

    /** The number of threads that have used the tree. */
    public long threads() {
        return entry.threads();
    }

    public boolean isDaemon() {
        return entry.isDaemon();
    }
}
