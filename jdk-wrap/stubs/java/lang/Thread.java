package java.lang;

/**
 * The members of Thread that the runtime uses, with the fields that the rewriter adds. Only
 * compiled against, never shipped.
 */
public class Thread implements Runnable {
    /** See docs/internals/runtime.md: the context for callees that take none. */
    long cct$context;

    /** See docs/internals/runtime.md: the root slot of the thread's tree. */
    long cct$root;

    /** See docs/internals/runtime.md: whether the thread is being mounted or unmounted. */
    boolean cct$transition;

    /** See docs/research/markers.md: the markers that the thread is in. */
    Object cct$stack;

    /** See docs/internals/runtime.md: a stack trace that this thread is reading. */
    Object cct$trace;

    public enum State {
        NEW,
        RUNNABLE,
        BLOCKED,
        WAITING,
        TIMED_WAITING,
        TERMINATED
    }

    public Thread(ThreadGroup group, Runnable target, String name, long stackSize) {}

    public static native Thread currentThread();

    /** JDK 19 and later. */
    static native Thread currentCarrierThread();

    public synchronized native void start();

    public native State getState();

    public final native boolean isAlive();

    public final native String getName();

    public final native boolean isDaemon();

    public final native ThreadGroup getThreadGroup();

    @Override
    public native void run();
}
