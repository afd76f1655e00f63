package java.lang;

import jdk.internal.vm.Continuation;

/**
 * Keeps a virtual thread on its carrier while it needs a lock of the runtime that any thread may
 * need.
 *
 * <p>Since JDK 24 (JEP 491) a virtual thread that waits for a monitor gives up its carrier. Who
 * leaves the monitor wakes one of those that wait, and a virtual thread is put back on a carrier by
 * a thread of the JVM's own, {@code VirtualThread-unblocker}. What that thread executes is recorded
 * as well: when it waited for the same monitor, behind the virtual thread that it was to wake,
 * everybody waited for ever. Who is pinned waits together with the carrier.
 *
 * <p>The rules of {@link CctRuntime} hold.
 */
public final class CctPin {
    /** Whether this JDK has virtual threads: their class must not be named before. */
    private static boolean virtual;

    private CctPin() {}

    /**
     * When the system properties are set. By hand: in the start of the JVM no class may be
     * initialised that the program would otherwise be the first to use.
     */
    static void prepare() {
        // Not the literal, which is the program's, too: its hash code would never be computed for
        // the first time there.
        String version = System.getProperty(new String("java.specification.version"));
        // "1.8", "11", "21".
        virtual = version != null && version.length() == 2
                && (version.charAt(0) > '2' || version.charAt(0) == '2' && version.charAt(1) > '0');
    }

    /**
     * Pins the current thread if it is a virtual one; what {@link #unpin} is to be told. Virtual
     * threads of a JVM without continuations are threads like all others, and of another class.
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

    /** Undoes what {@link #pin} did. */
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
