package cctrewrite.runtime;

import cctrewrite.agent.AggregatingAgent;
import cctrewrite.agent.Context;
import cctrewrite.agent.Profile;
import cctrewrite.agent.ProfilingAgent;
import cctrewrite.agent.RootContext;
import sun.misc.Unsafe;

/**
 * The profiling agent and the threads' activation counters (JP, section 5). In bypass.
 *
 * <p>Only the thread itself writes its activation counter. The loading thread leaves the
 * granularity for another thread in the tree's record ({@link Layout#GRANULARITY}). That thread
 * reads it there when its counter next runs out.
 */
public final class Agents {
    /**
     * Granularity without an agent. It is small, so that threads soon read the granularity that
     * {@link #load} has left for them.
     */
    private static final long WITHOUT_AGENT = 1L << 20;

    static final String NEVER_ASKED = "the profiling agent " + Settings.AGENT
            + " is not asked to report while the program runs: "
            + "the class library was rewritten without --activation-counters";

    private static volatile ProfilingAgent agent;

    private Agents() {}

    /**
     * Loads the agent.
     *
     * @throws Exception if the class is no agent or cannot be instantiated
     */
    static void load(String className) throws Exception {
        Object made;
        if (className.equals(Settings.DEFAULT_AGENT)) {
            // Not by name: the program's loaders would record the name of this class.
            made = new AggregatingAgent();
        } else {
            Exports.agent();
            made = Class.forName(className, true, ClassLoader.getSystemClassLoader()).newInstance();
        }
        if (!(made instanceof ProfilingAgent)) {
            throw new ClassCastException("it does not implement " + ProfilingAgent.class.getName());
        }
        // Set the agent first, then visit the existing threads: a thread that starts in between
        // registers itself.
        agent = (ProfilingAgent) made;
        TreeEntry[] all = Threads.snapshot();
        for (int i = 0; i < all.length; i++) {
            Thread thread = all[i].thread();
            if (thread != null && claim(all[i])) {
                long granularity = register(thread, all[i]);
                if (granularity > 0L) {
                    CctMemory.U.putLong(null, all[i].record + Layout.GRANULARITY, granularity);
                }
            }
        }
    }

    /** Whether the user named an agent but no rewritten code calls {@link #report}. */
    static boolean isNeverAsked() {
        Output[] outputs = Outputs.library().all;
        return !Settings.AGENT.equals(Settings.DEFAULT_AGENT) && outputs.length > 0
                && "no".equals(outputs[0].value("activation"));
    }

    /**
     * A thread has got its tree. The thread itself calls this method. The JVM runs the constructor
     * of the thread object of an attached thread on that very thread, and the object has no name
     * yet. Such a thread is registered at its first test of the counter.
     */
    static void attached(Thread thread, TreeEntry entry) {
        if (thread.getName() == null) {
            CctMemory.U.putLong(null, entry.record + Layout.ACTIVATION, 1L);
            return;
        }
        long granularity = agent != null && claim(entry) ? register(thread, entry) : 0L;
        CctMemory.U.putLong(null, entry.record + Layout.ACTIVATION, granularity > 0L
                ? granularity : WITHOUT_AGENT);
    }

    /**
     * Runs when the activation counter of the current thread has run out; {@code node} is its
     * context.
     */
    public static void report(long node) {
        Unsafe u = CctMemory.U;
        long record = u.getLong(null, node & Layout.CHUNK_MASK);
        long granularity = u.getLong(null, record + Layout.GRANULARITY);
        if (granularity > 0L) {
            u.putLong(null, record + Layout.GRANULARITY, 0L);
        } else {
            // In any case below, the thread must not come back at every test.
            u.putLong(null, record + Layout.ACTIVATION, WITHOUT_AGENT);
            ProfilingAgent active = agent;
            granularity = WITHOUT_AGENT;
            TreeEntry entry = Threads.of(node);
            Thread thread = Thread.currentThread();
            if (active != null && thread.getName() == null) {
                // The thread object is not complete, and not registered (see attached). Try again
                // at the next test.
                granularity = 1L;
            } else if (active != null && claim(entry)) {
                granularity = register(thread, entry);
            } else if (active != null) {
                try {
                    granularity = active.report(root(entry), new Context(node));
                } catch (StackOverflowError e) {
                    // The program's own stack is nearly full; ask the agent again later.
                    return;
                } catch (ThreadDeath e) {
                    // From Thread.stop: it is not the agent's fault. It must end the thread, which
                    // would otherwise live on.
                    throw e;
                } catch (Throwable e) {
                    failed(active, e);
                }
            }
        }
        u.putLong(null, record + Layout.ACTIVATION, granularity > 0L ? granularity : 1L);
    }

    /**
     * The JVM ends.
     *
     * @return false if no agent has handled the profile
     * @throws Exception if the default agent, which only writes the profile, cannot do so
     */
    static boolean end(Profile profile) throws Exception {
        ProfilingAgent active = agent;
        if (active == null) {
            return false;
        }
        try {
            active.end(profile);
            return true;
        } catch (Throwable e) {
            if (active instanceof AggregatingAgent) {
                throw e;
            }
            failed(active, e);
            return false;
        }
    }

    static RootContext root(TreeEntry entry) {
        synchronized (entry) {
            if (entry.root == null) {
                entry.root = new RootContext(CctMemory.U.getLong(null,
                        entry.record + Layout.ROOT), entry);
            }
            return entry.root;
        }
    }

    /** Whether the caller must register this thread; true only once for each owner of the tree. */
    private static boolean claim(TreeEntry entry) {
        synchronized (entry) {
            boolean mine = entry.registered != entry.owner;
            entry.registered = entry.owner;
            return mine;
        }
    }

    private static long register(Thread thread, TreeEntry entry) {
        ProfilingAgent active = agent;
        if (active == null) {
            return 0L;
        }
        try {
            long granularity = active.register(thread, root(entry));
            return granularity > 0L ? granularity : 1L;
        } catch (ThreadDeath e) {
            // As in report().
            throw e;
        } catch (Throwable e) {
            failed(active, e);
            return 0L;
        }
    }

    /** Switches the agent off and reports it. Only the thread that switches it off reports. */
    private static void failed(ProfilingAgent active, Throwable e) {
        synchronized (Agents.class) {
            if (agent == null) {
                return;
            }
            agent = null;
        }
        Settings.say("the profiling agent " + active.getClass().getName()
                + " failed and was switched off: " + e);
        e.printStackTrace();
    }
}
