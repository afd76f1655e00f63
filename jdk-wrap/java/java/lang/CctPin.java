package java.lang;

import jdk.internal.vm.Continuation;

/**
 * Keeps a virtual thread on its carrier while it needs a lock of the runtime that any thread may
 * need.
 *
 * <p>Since JDK 24 (JEP 491) a virtual thread that waits for a monitor gives up its carrier. A
 * thread that leaves the monitor wakes one of the waiting threads. If that is a virtual thread, the
 * JVM's own thread {@code VirtualThread-unblocker} puts it back on a carrier. The runtime records
 * that thread, too. It could wait for the same monitor, queued after the virtual thread that it was
 * to wake: a deadlock. A pinned thread waits together with its carrier.
 *
 * <p>The rules of {@link CctRuntime} hold.
 */
public final class CctPin {
    /** Whether this JDK has virtual threads. The code must not name their class in an older JDK. */
    private static boolean virtual;

    private CctPin() {}

    /**
     * Runs when the system properties are set. Parses by hand: during the start of the JVM the
     * runtime must not initialise a class that the program must be the first to use.
     */
    static void prepare() {
        // Not the literal itself, since the program has the same one: its hash code would then be
        // computed here, and not in the program.
        String version = System.getProperty(new String("java.specification.version"));
        // "1.8", "11", "21".
        virtual = version != null && version.length() == 2
                && (version.charAt(0) > '2' || version.charAt(0) == '2' && version.charAt(1) > '0');
    }

    /**
     * Pins the current thread if it is a virtual one. Returns the argument for {@link #unpin}. In a
     * JVM without continuations, virtual threads are ordinary threads, and of another class.
     */
    public static boolean pin() {
        if (!virtual) {
            return false;
        }
        Thread thread = Thread.currentThread();
        if (!(thread instanceof VirtualThread)) {
            return false;
        }
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Continuation.pin();
        } finally {
            thread.cct$context = context;
        }
        return true;
    }

    /** Undoes {@link #pin}. */
    public static void unpin(boolean pinned) {
        if (!pinned) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Continuation.unpin();
        } finally {
            thread.cct$context = context;
        }
    }
}
