package cctrewrite.markers;

/**
 * Where a thread's marker stack is: on a JVM that was not rewritten, in a thread-local variable.
 */
final class Stacks {
    private static final ThreadLocal<MarkerStack> STACK = new ThreadLocal<>();
    /**
     * A thread that is not the one found first becomes it now and then: often enough for a thread
     * that is alone, seldom enough for many.
     */
    private static final int PATIENCE = 1024;

    /**
     * That of a thread that came here lately: to look whether it is the current one is less than to
     * ask for its variable. Written by whoever has missed it often; any will do, since what decides
     * is its thread. It may keep one thread that has ended from being collected.
     */
    private static MarkerStack recent = MarkerStack.busy();

    private Stacks() {}

    /** That of the current thread. */
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
