package cctrewrite.runtime;

/**
 * What happens right before the launcher looks for the program's main class; without a launcher, when the JVM ends. In bypass.
 *
 * <p>Initialises classes that the program would otherwise initialise itself, or never, without being charged for it: {@code
 * FileInputStream}, {@code DataInputStream}, {@code ZipFile}, {@code Inflater}, {@code ArrayList}, {@code HashMap}, {@code
 * WeakReference}, and what loading the agent takes of reflection. The launcher itself has used most of them by then.
 */
public final class Launch {
    private static boolean launched;

    private Launch() {}

    /** Applies settings and checks that the outputs fit together; loads the agent if anything is going to be recorded. */
    public static void launch(boolean recording) {
        synchronized (Launch.class) {
            if (launched) {
                return;
            }
            launched = true;
        }
        String trouble = Settings.apply();
        if (trouble == null) {
            trouble = Outputs.known().misfit;
        }
        if (trouble == null && LoadTime.ready() != null) {
            trouble = "the library that rewrites classes at load time (-Dcctrewrite.loadtime) cannot be used: " + LoadTime.ready();
        }
        if (trouble == null && recording) {
            try {
                Agents.load(Settings.AGENT);
            } catch (Throwable e) {
                trouble = "the profiling agent " + Settings.AGENT + " (-Dcctrewrite.agent) cannot be loaded: " + e;
            }
        }
        if (trouble != null) {
            Settings.stop(trouble);
        }
    }
}
