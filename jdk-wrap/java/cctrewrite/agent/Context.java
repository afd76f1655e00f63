package cctrewrite.agent;

import cctrewrite.runtime.Counters;

/**
 * A node of a calling-context tree. This is a light handle: two handles of one node are equal.
 * Contexts are never removed, so a handle stays valid as long as the JVM runs.
 *
 * <p>The owning thread continues to count while another thread reads, so a value that another
 * thread reads is a snapshot. Only the owner, in {@link ProfilingAgent#report}, can {@link #reset}
 * counters without losing counts.
 */
public class Context {
    private static final Context[] NONE = new Context[0];

    final long node;

    /** For the runtime: a handle of the node at that address. */
    public Context(long node) {
        this.node = node;
    }

    /** How often the thread entered the context (since the last reset). */
    public final long calls() {
        return Counters.calls(node);
    }

    /**
     * Bytecodes that the context itself executed, without those of its callees (since the last
     * reset).
     */
    public final long bytecodes() {
        return Counters.bytecodes(node);
    }

    /** Sets both counters of this context to zero. */
    public final void reset() {
        Counters.reset(node);
    }

    /** Identifies the method's body: equal in every run for the same class file. */
    public final long methodId() {
        return Counters.mid(node);
    }

    /**
     * The method that this context executes. Each call looks it up by its id. Null for a root, and
     * for a method that is in no index and no loaded class.
     */
    public final MethodName method() {
        return Counters.method(node);
    }

    /**
     * The bytecode index of the call in the caller's original code. -1 if the profile does not
     * distinguish call sites, for a root, and for methods that native code calls.
     */
    public final int callSite() {
        return Counters.callSite(node);
    }

    /** The caller's context; null for a root. The search takes one step for each older sibling. */
    public final Context parent() {
        long parent = Counters.parent(node);
        return parent == 0L ? null : new Context(parent);
    }

    /**
     * The newest of the contexts called from here; null if there is none. {@link #nextSibling}
     * leads to the others.
     */
    public final Context firstChild() {
        long child = Counters.firstChild(node);
        return child == 0L ? null : new Context(child);
    }

    /** The next older context with the same caller; null after the last. */
    public final Context nextSibling() {
        long sibling = Counters.nextSibling(node);
        return sibling == 0L ? null : new Context(sibling);
    }

    /** The contexts called from here, newest first. */
    public final Context[] children() {
        int count = 0;
        long first = Counters.firstChild(node);
        for (long child = first; child != 0L; child = Counters.nextSibling(child)) {
            count++;
        }
        if (count == 0) {
            return NONE;
        }
        Context[] children = new Context[count];
        int i = 0;
        for (long child = first; child != 0L; child = Counters.nextSibling(child)) {
            children[i++] = new Context(child);
        }
        return children;
    }

    @Override
    public final boolean equals(Object other) {
        return other instanceof Context && ((Context) other).node == node;
    }

    @Override
    public final int hashCode() {
        return (int) (node >>> 3 ^ node >>> 35);
    }

    @Override
    public final String toString() {
        MethodName method = method();
        return (method == null ? "?" : method.toString()) + " calls=" + calls() + " bytecodes="
                + bytecodes();
    }
}
