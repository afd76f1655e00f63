package cctrewrite.markers;

import cctrewrite.runtime.Finish;
import cctrewrite.runtime.Launch;
import java.lang.CctMarkers;
import java.lang.CctRuntime;

/**
 * Whether the JVM has booted: when the profiler's runtime has heard that the launcher comes to the
 * program.
 */
final class Boot {
    static {
        if (Image.isOpen()) {
            // Who waits for what this JVM leaves finds it, whatever the program comes to.
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
     * Before clients are loaded. The end is told before the profile is written: a hook of the
     * program's would be in it.
     */
    static void begin() {
        Finish.before(new End.Printing());
    }

    /** A thread of ours is not recorded. */
    static Thread apart(Thread thread) {
        CctRuntime.bypass(thread);
        return thread;
    }
}
