package cctrewrite.markers;

/**
 * A thread at a marker: what handlers get. There is one for each thread and depth, which is used
 * again: it is valid until the handler returns, those {@linkplain #parent below it} as well.
 */
public final class Marker {
    final MarkerStack stack;
    final int level;
    /** The level; -1 once another object has taken this one's place. */
    int depth;
    Told told;
    Object receiver;
    Object[] arguments;
    Object result;
    boolean byException;
    /**
     * Where a call site's slot is in the tree's node in which the thread came here, if it is
     * recorded; else no address.
     */
    long context;

    Marker(MarkerStack stack, int level) {
        this.stack = stack;
        this.level = level;
        depth = level;
    }

    /** Another one, which says the same. */
    Marker copy() {
        Marker copy = new Marker(stack, level);
        copy.told = told;
        copy.receiver = receiver;
        copy.arguments = arguments;
        copy.result = result;
        copy.byException = byException;
        copy.context = context;
        return copy;
    }

    /** Which marker. */
    public MarkerDescriptor descriptor() {
        return told.descriptor;
    }

    /** The thread. */
    public Thread thread() {
        return stack.thread;
    }

    /**
     * The object that it is about, if the rule asked for it: of calls and fields that of the
     * instruction, of handlers the exception, of allocations what was made, else {@code this}.
     * {@code null} if there is none: in static methods, and in constructors up to the call of
     * another one. At the exit of a constructor it is there.
     */
    public Object receiver() {
        return receiver;
    }

    /**
     * The arguments of the method or call, where the rule asks for them; else {@code null}. Of a
     * method, as they were on entry.
     */
    public Object[] arguments() {
        return arguments;
    }

    /**
     * At an exit by a return, where the rule asks for it: the object that is returned, or the
     * boolean; else {@code null}.
     */
    public Object result() {
        return result;
    }

    /** At an exit: whether it is left by an exception. */
    public boolean isByException() {
        return byException;
    }

    /** How many markers the thread is in, this one included. */
    public int depth() {
        return level;
    }

    /**
     * The marker that the thread came to before, and is still in; {@code null} if there is none.
     */
    public Marker parent() {
        return level > 1 ? stack.frame(level - 1) : null;
    }

    @Override
    public String toString() {
        return String.valueOf(descriptor());
    }
}
