package cctrewrite.markers;

import java.lang.CctMarkers;

/** Where a thread's marker stack is: with a marked class library, in a field of the thread. */
final class Stacks {
    /** Stands for a stack while that is being made, which comes to markers itself. */
    private static final MarkerStack BUSY = MarkerStack.busy();

    private Stacks() {}

    /** That of the current thread. */
    static MarkerStack current() {
        Thread thread = Thread.currentThread();
        Object stack = CctMarkers.stack(thread);
        return stack != null ? (MarkerStack) stack : first(thread);
    }

    private static MarkerStack first(Thread thread) {
        if (BUSY == null) {
            // This class is being initialised, by this thread.
            return MarkerStack.busy();
        }
        CctMarkers.setStack(thread, BUSY);
        MarkerStack stack = null;
        // The first marker of each thread comes here, also that of the one that wakes virtual
        // threads: none of these may give up its carrier while it waits for the lock.
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
     * The JVM's own thread (JDK 24 and later) that puts virtual threads back on carriers which have
     * waited for a lock. Were clients to hear of it, and to take a lock for which a virtual thread
     * waits, that would wait for ever.
     */
    private static boolean wakesVirtualThreads(Thread thread) {
        return "VirtualThread-unblocker".equals(thread.getName())
                && "jdk.internal.misc.InnocuousThread".equals(thread.getClass().getName());
    }
}
