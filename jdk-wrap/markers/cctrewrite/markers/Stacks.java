package cctrewrite.markers;

/** Where a thread's marker stack is: on a JVM that was not rewritten, in a thread-local variable. */
final class Stacks {
    private static final ThreadLocal<MarkerStack> STACK = new ThreadLocal<>();

    private Stacks() {}

    /** That of the current thread; {@code null} while it is being made. */
    static MarkerStack current() {
        MarkerStack stack = STACK.get();
        return stack != null ? stack : first();
    }

    private static MarkerStack first() {
        Thread thread = Thread.currentThread();
        MarkerStack stack = new MarkerStack(thread, Counts.of(thread));
        STACK.set(stack);
        return stack;
    }
}
