package cctrewrite.markers;

/**
 * A thread at a marker, as handlers get it. The runtime reuses one object for each thread and
 * depth. The object and its {@linkplain #parent parents} are valid until the handler returns.
 */
public final class Marker {
    final MarkerStack stack;
    final int level;
    /** The level; -1 after another object has replaced this one. */
    int depth;
    Listeners listeners;
    Object receiver;
    Object[] arguments;
    Object result;
    boolean byException;
    /**
     * The address of a call-site slot in the tree's node in which the thread reached the marker; no
     * address if the thread was not recorded.
     */
    long context;

    Marker(MarkerStack stack, int level) {
        this.stack = stack;
        this.level = level;
        depth = level;
    }

    /** A new object with the same contents. */
    Marker copy() {
        Marker copy = new Marker(stack, level);
        copy.listeners = listeners;
        copy.receiver = receiver;
        copy.arguments = arguments;
        copy.result = result;
        copy.byException = byException;
        copy.context = context;
        return copy;
    }

    /** Which marker. */
    public MarkerDescriptor descriptor() {
        return listeners.descriptor;
    }

    /** The thread. */
    public Thread thread() {
        return stack.thread;
    }

    /**
     * The object of the marker, if the rule asks for it. For calls and fields it is the receiver of
     * the instruction, for handlers the exception, for allocations the new object. For all others
     * it is {@code this}. {@code null} if there is none: in static methods, and in constructors up
     * to the call of another one. At the exit of a constructor the object is known.
     */
    public Object receiver() {
        return receiver;
    }

    /**
     * The arguments of the method or call, if the rule asks for them; else {@code null}. For a
     * method, they have their values on entry.
     */
    public Object[] arguments() {
        return arguments;
    }

    /**
     * At an exit by a return, if the rule asks for it: the returned object or boolean; else
     * {@code null}.
     */
    public Object result() {
        return result;
    }

    /** At an exit: whether an exception ends the region. */
    public boolean isByException() {
        return byException;
    }

    /** The number of markers that the thread is in, including this one. */
    public int depth() {
        return level;
    }

    /** The next outer marker that the thread is in; {@code null} if there is none. */
    public Marker parent() {
        return level > 1 ? stack.frame(level - 1) : null;
    }

    @Override
    public String toString() {
        return String.valueOf(descriptor());
    }
}
