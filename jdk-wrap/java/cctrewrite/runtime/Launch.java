package cctrewrite.runtime;

/**
 * Prepares the recording right before the launcher looks for the program's main class; without a
 * launcher, when the JVM ends. In bypass.
 *
 * <p>Initialises classes that the program would otherwise initialise itself, or never:
 * {@code FileInputStream}, {@code ZipFile}, {@code Inflater}, {@code ArrayList}, {@code HashMap},
 * {@code WeakReference}, and the classes of reflection that load the agent. The profile does not
 * charge the program for them. The launcher itself has used most of them by then.
 */
public final class Launch {
    /**
     * Classes that stack traces need. The first trace may be taken where the stack is full, and a
     * class whose initialisation fails there stays unusable.
     */
    private static final String[] NEEDED_ON_FULL_STACKS = {
        "java.lang.CctClasses",
        "java.lang.CctStacks",
        "java.lang.CctTraces",
        "java.lang.CctTraces$AllAtOnce",
        "java.lang.CctTraces$Elements",
        "java.lang.CctTraces$PendingTrace",
        "java.lang.CctTraces$Visible",
        "java.lang.CctTraces$VmTrace",
    };

    /** Natives that method handles lead to are counted from this class's initialisation on. */
    private static final String[] FOLLOWING_LINKS = {"java.lang.CctNatives"};

    /** Classes that the first marker of a thread needs, however little stack is left there. */
    private static final String[] NEEDED_BY_MARKERS = {
        "cctrewrite.markers.Boot",
        "cctrewrite.markers.Stacks",
        "cctrewrite.markers.Counts",
        "cctrewrite.markers.MarkerStack",
        "cctrewrite.markers.Marker",
        "cctrewrite.markers.Listeners",
        "cctrewrite.markers.MarkerTable",
        "cctrewrite.markers.MarkerDescriptor",
        "cctrewrite.markers.MarkerDescriptor$Row",
        "cctrewrite.markers.Clients",
        "cctrewrite.markers.End",
        "cctrewrite.markers.Gate",
    };

    private static boolean launched;

    /** The action to run at the end of the preparation; null if there is none. */
    private static Runnable afterwards;

    private Launch() {}

    /** Sets an action to run right before the JVM starts the program. In bypass. */
    public static void afterwards(Runnable what) {
        afterwards = what;
    }

    /**
     * An error message if the JVM loaded classes of the library from another place before they
     * could be rewritten, or null.
     */
    private static String early(String[] names) {
        if (names.length == 0) {
            return null;
        }
        String what = names.length + (names.length == 1 ? " class" : " classes")
                + " of the library, " + names[0]
                + " first, came from elsewhere than the profiled JDK (--patch-module, "
                + "-Xbootclasspath/p) and the JVM loaded them before they could be rewritten";
        if (!Settings.RAW.equals("refuse")) {
            RawClasses.note(what);
            return null;
        }
        return what + ". Leave out what replaces them, or accept that calls of their methods may "
                + "fail with -Dcctrewrite.raw=allow";
    }

    private static void load(String[] names) {
        for (int i = 0; i < names.length; i++) {
            try {
                Class.forName(names[i]);
            } catch (Throwable e) {
                // This JDK does not need the class, or the code that needs it will report the
                // error.
            }
        }
    }

    /**
     * Applies the settings and checks that the outputs match. Loads the agent if the runtime is
     * going to record anything.
     */
    public static void launch(boolean recording) {
        synchronized (Launch.class) {
            if (launched) {
                return;
            }
            launched = true;
        }
        load(NEEDED_ON_FULL_STACKS);
        load(FOLLOWING_LINKS);
        String trouble = Settings.apply();
        if (trouble == null) {
            trouble = Outputs.known().misfit;
        }
        if (trouble == null && LoadTime.ready() != null) {
            trouble = "the library that rewrites classes at load time (-Dcctrewrite.loadtime) "
                    + "cannot be used: " + LoadTime.ready();
        }
        if (trouble == null && LoadTime.isToComeLast()) {
            LoadTime.comeLast();
            trouble = early(LoadTime.early());
        }
        if (trouble == null && Arena.trouble() != null) {
            trouble = "the file for the memory of the trees (-Dcctrewrite.arena) cannot be made: "
                    + Arena.trouble();
        }
        if (trouble == null && recording) {
            trouble = LoadTime.misnamed();
        }
        if (trouble == null && recording && Description.isGivenToModule()) {
            try {
                Exports.modules();
            } catch (Throwable e) {
                trouble = "the classes of the module (--udi) cannot be made accessible: " + e;
            }
        }
        if (trouble == null && Description.mayHaveMarkers()) {
            try {
                Exports.markers();
                load(NEEDED_BY_MARKERS);
            } catch (Throwable e) {
                trouble = "what clients of markers implement cannot be made accessible: " + e;
            }
        }
        if (trouble == null && recording) {
            trouble = Tracing.trouble();
        }
        if (trouble == null && recording) {
            trouble = Pcc.trouble();
        }
        if (trouble == null && recording) {
            try {
                Agents.load(Settings.AGENT);
                if (Agents.isNeverAsked()) {
                    Settings.say(Agents.NEVER_ASKED);
                }
            } catch (Throwable e) {
                trouble = "the profiling agent " + Settings.AGENT
                        + " (-Dcctrewrite.agent) cannot be loaded: " + e;
            }
        }
        if (trouble != null) {
            Settings.stop(trouble);
        }
        if (Tracing.on() && recording) {
            Tracing.describe(Description.of(false, false));
        }
        if (Arena.isOpen()) {
            Arena.describe(Description.of(false, false), Description.of(true, false));
        }
        CctRuntime.launched();
        if (recording && afterwards != null) {
            afterwards.run();
        }
    }
}
