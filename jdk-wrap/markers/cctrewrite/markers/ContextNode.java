package cctrewrite.markers;

import java.util.Collections;
import java.util.List;

/**
 * A node of the exact calling-context tree, of a program that is counted beside its markers: see
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
     * The same for the same context, in all runs of the same class files and in all threads: a hash
     * over the ids of the methods from the thread's root to here. Different contexts have different
     * ones, as far as 64 bits tell them apart.
     */
    public long id() {
        return id;
    }

    /**
     * The methods of the path in the tree, as the profile has them ({@code com/acme/Main.run()V}),
     * the innermost first.
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
