package cctrewrite.markers;

import java.util.Arrays;

/** A provider: the methods that led to a marker. */
public final class CallingContexts {
    private static final String GATE = "cctrewrite.markers.Gate";
    /** The class that calls it in a class library. */
    private static final String LIBRARY_GATE = "java.lang.CctMarkers";

    private CallingContexts() {}

    /**
     * The current thread's frames; the method of the innermost marker comes first. Call it only in
     * handlers.
     */
    public static StackTraceElement[] current() {
        StackTraceElement[] all = new Throwable().getStackTrace();
        int from = 0;
        // Skip the client's frames, up to the last frame of the gate, and then the helper that
        // called it.
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
     * The node of the exact calling-context tree in which the thread reached the innermost marker.
     * Null if the program is not counted in addition, or if the thread was not recorded there. Call
     * it only in handlers.
     */
    public static ContextNode node() {
        return Trees.node(Markers.current());
    }

    /**
     * The frame at an index of {@link #current}; null if there are not that many. From JDK 9 on the
     * JVM visits no more frames than it must.
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

    /** Whether this is a frame between the gate and the marker. */
    static boolean isOurs(String owner, String method) {
        return method.startsWith("cct$") || owner.equals(LIBRARY_GATE) || owner.equals(GATE);
    }
}
