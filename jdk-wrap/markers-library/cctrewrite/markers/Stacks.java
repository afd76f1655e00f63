package cctrewrite.markers;

import java.lang.CctMarkers;

/** The marker stack of a thread. With a marked class library, it is in a field of the thread. */
final class Stacks {
    /**
     * A thread's stack while the thread creates the real one, since that code reaches markers
     * itself.
     */
    private static final MarkerStack BUSY = MarkerStack.busy();

    private Stacks() {}

    /** The marker stack of the current thread. */
    static MarkerStack current() {
        Thread thread = Thread.currentThread();
        Object stack = CctMarkers.stack(thread);
        return stack != null ? (MarkerStack) stack : first(thread);
    }

    private static MarkerStack first(Thread thread) {
        if (BUSY == null) {
            // This thread is initialising this class.
            return MarkerStack.busy();
        }
        CctMarkers.setStack(thread, BUSY);
        MarkerStack stack = null;
        // The first marker of each thread runs this code, also in the thread that wakes virtual
        // threads. No thread may give up its carrier while it waits for the lock.
        boolean pinned = CctMarkers.pin();
        try {
            stack = new MarkerStack(thread, Counts.of(thread));
            if (wakesVirtualThreads(thread)) {
                stack.counts.wakesVirtualThreads = true;
                stack.silence();
            }
        } finally {
            CctMarkers.unpin(pinned);
            CctMarkers.setStack(thread, stack);
        }
        return stack;
    }

    /**
     * Whether this is the JVM's own thread (JDK 24 and later) that puts virtual threads back on
     * carriers after they have waited for a lock. If clients were notified there, they could wait
     * for a lock, queued after a virtual thread that only this thread can wake: a deadlock.
     */
    private static boolean wakesVirtualThreads(Thread thread) {
        return "VirtualThread-unblocker".equals(thread.getName())
                && "jdk.internal.misc.InnocuousThread".equals(thread.getClass().getName());
    }
}
