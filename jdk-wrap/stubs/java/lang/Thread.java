package java.lang;

/**
 * What the runtime uses of Thread, with the fields that the rewriter adds. Only compiled against,
 * never shipped.
 */
public class Thread implements Runnable {
    /** See docs/internals/runtime.md: the slot for code that is entered without a context. */
    long cct$context;

    /** See docs/internals/runtime.md: the slot of the root of its tree. */
    long cct$root;

    /** See docs/internals/runtime.md: whether it is being mounted or unmounted. */
    boolean cct$transition;

    /** See docs/research/markers.md: the markers that it is in. */
    Object cct$stack;

    /** See docs/internals/runtime.md: a stack trace that this thread is being given. */
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
