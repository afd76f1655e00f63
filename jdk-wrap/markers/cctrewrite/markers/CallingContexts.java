package cctrewrite.markers;

import java.util.Arrays;

/** A provider: the methods that led to a marker. */
public final class CallingContexts {
    private static final String OURS = "cctrewrite.markers.";

    private CallingContexts() {}

    /** The current thread's frames, the method of the innermost marker first. Only in handlers. */
    public static StackTraceElement[] current() {
        StackTraceElement[] all = new Throwable().getStackTrace();
        int from = 0;
        // Down to the last frame of ours, and the helper that called it: what is above is the client.
        for (int i = 0; i < all.length; i++) {
            if (all[i].getClassName().equals(OURS + "Gate")) {
                from = i + 1;
                break;
            }
        }
        while (from < all.length && all[from].getMethodName().startsWith("cct$")) {
            from++;
        }
        return Arrays.copyOfRange(all, from, all.length);
    }
}
