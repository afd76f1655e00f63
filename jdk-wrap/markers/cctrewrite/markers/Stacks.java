package cctrewrite.markers;

/**
 * The marker stack of a thread. On a JVM without rewriting, it is in a thread-local variable.
 */
final class Stacks {
    private static final ThreadLocal<MarkerStack> STACK = new ThreadLocal<>();
    /**
     * A thread whose stack is not the recent one makes it the recent one from time to time. That is
     * often enough for a single thread, and seldom enough for many.
     */
    private static final int PATIENCE = 1024;

    /**
     * The stack of a thread that was here recently. Testing its thread costs less than reading the
     * thread-local variable. A thread that has often missed writes it. Any value is right, since
     * the test compares its thread. It may keep one ended thread from being collected.
     */
    private static MarkerStack recent = MarkerStack.busy();

    private Stacks() {}

    /** The marker stack of the current thread. */
    static MarkerStack current() {
        MarkerStack stack = recent;
        return stack.thread == Thread.currentThread() ? stack : own();
    }

    private static MarkerStack own() {
        MarkerStack stack = STACK.get();
        if (stack == null) {
            Thread thread = Thread.currentThread();
            stack = new MarkerStack(thread, Counts.of(thread));
            STACK.set(stack);
        }
        if (stack.misses++ % PATIENCE == 0) {
            recent = stack;
        }
        return stack;
    }
}
