package cctrewrite.markers;

import cctrewrite.runtime.Finish;
import cctrewrite.runtime.Launch;
import java.lang.CctMarkers;
import java.lang.CctRuntime;

/**
 * Whether the JVM has booted, which it has when the profiler's runtime knows that the launcher has
 * reached the program.
 */
final class Boot {
    static {
        if (Image.isOpen()) {
            // The process that waits for this JVM's results gets them, even if the program ends
            // before it reaches a marker.
            Launch.afterwards(new Runnable() {
                @Override
                public void run() {
                    Clients.begin();
                }
            });
        }
    }

    private Boot() {}

    static boolean isOver() {
        return CctMarkers.isOver();
    }

    static void launched() {}

    static long early() {
        return CctMarkers.early();
    }

    /**
     * Makes clients print at the end, before the profile is written. Runs before clients are
     * loaded. Does not use a shutdown hook of the program, since that would be in the profile.
     */
    static void begin() {
        Finish.before(new End.Printing());
    }

    /** Excludes a thread of the marker runtime from the recording. */
    static Thread apart(Thread thread) {
        CctRuntime.bypass(thread);
        return thread;
    }
}
