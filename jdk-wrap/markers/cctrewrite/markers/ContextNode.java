package cctrewrite.markers;

import java.util.Collections;
import java.util.List;

/**
 * A node of the exact calling-context tree, of a program that has markers and is also counted: see
 * {@link CallingContexts#node}.
 */
public final class ContextNode {
    private final long id;
    private final List<String> methods;

    ContextNode(long id, List<String> methods) {
        this.id = id;
        this.methods = Collections.unmodifiableList(methods);
    }

    /**
     * The id of the context. It is the same in all runs of the same class files and in all threads:
     * a hash over the ids of the methods from the thread's root to this node. Different contexts
     * have different ids, as far as 64 bits distinguish them.
     */
    public long id() {
        return id;
    }

    /**
     * The methods of the path in the tree, as in the profile ({@code com/acme/Main.run()V}), with
     * the innermost method first.
     */
    public List<String> methods() {
        return methods;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ContextNode && ((ContextNode) other).id == id;
    }

    @Override
    public int hashCode() {
        return (int) (id ^ id >>> 32);
    }

    /** The id, in sixteen hexadecimal digits. */
    @Override
    public String toString() {
        String digits = Long.toHexString(id);
        return "0000000000000000".substring(digits.length()) + digits;
    }
}
