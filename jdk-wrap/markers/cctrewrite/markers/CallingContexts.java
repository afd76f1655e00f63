package cctrewrite.markers;

import java.util.Arrays;

/** A provider: the methods that led to a marker. */
public final class CallingContexts {
    private static final String GATE = "cctrewrite.markers.Gate";
    /** In front of it in a class library. */
    private static final String LIBRARY_GATE = "java.lang.CctMarkers";

    private CallingContexts() {}

    /** The current thread's frames, the method of the innermost marker first. Only in handlers. */
    public static StackTraceElement[] current() {
        StackTraceElement[] all = new Throwable().getStackTrace();
        int from = 0;
        // Down to the last frame of ours, and the helper that called it: what is above is the
        // client.
        for (int i = 0; i < all.length; i++) {
            if (isGate(all[i].getClassName())) {
                from = i + 1;
                break;
            }
        }
        while (from < all.length && isOurs(all[from].getClassName(), all[from].getMethodName())) {
            from++;
        }
        return Arrays.copyOfRange(all, from, all.length);
    }

    /**
     * The node of the exact calling-context tree in which the thread came to the innermost marker;
     * null if the program is not counted beside its markers, or nothing was recorded where the
     * thread was. Only in handlers.
     */
    public static ContextNode node() {
        return Trees.node(Markers.current());
    }

    /**
     * The frame at a place of {@link #current}; null if there are not so many. The JVM looks at no
     * more frames than it must, from JDK 9 on.
     */
    public static StackTraceElement frame(int place) {
        if (Walks.canWalk()) {
            return Walks.frame(place);
        }
        StackTraceElement[] all = current();
        return place < all.length ? all[place] : null;
    }

    static boolean isGate(String owner) {
        return owner.equals(GATE);
    }

    /** Whether a frame behind the gate's stands between it and the marker. */
    static boolean isOurs(String owner, String method) {
        return method.startsWith("cct$") || owner.equals(LIBRARY_GATE) || owner.equals(GATE);
    }
}
