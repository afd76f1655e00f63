package cctrewrite.runtime;

import java.io.File;
import java.util.ArrayList;

/**
 * The description of a run: the description lines of the profile, and the notes that its reader
 * needs because of them. In bypass.
 *
 * <p>The runtime builds it at the end, and also when the program begins (for {@link Arena}). At
 * that time it may use only those classes of the library that the launcher has used already.
 */
final class Description {
    /** The keys, sorted. */
    static final String[] KEYS = {
        "agent", "allocations", "blocks", "call-sites", "columns", "context", "cost-model", "exact",
        "identity", "intrinsics", "java.version", "java.vm.name", "java.vm.version", "limits",
        "main", "max-contexts", "metrics", "natives",
        "provenance", "recursion", "reproducible", "selection", "system-threads", "tool",
    };

    /**
     * The limits of every profile of this version of the scheme, whatever the options
     * (docs/internals/scheme.md).
     */
    private static final String LIMITS =
            "virtual calls of Object.clone are not counted, nor super calls of Object.clone "
            + "and Object.hashCode in classes that are loaded before their superclasses";

    /** Limits with {@code --natives none}. */
    private static final String WITHOUT_NATIVES =
            "natives have no contexts, and their callbacks are below the thread's root; ";
    private static final String WITHOUT_OBJECTS_OF_NATIVES =
            "; objects that natives allocate are not counted, clones included";

    /** Limits with {@code --intrinsics native}. */
    private static final String OF_NATIVE_INTRINSICS =
            "; calls of intrinsics by reflection, method handles and classes that were not "
            + "rewritten are not counted, nor are virtual calls of String.equals";

    /** Limits without the load-time library. */
    private static final String WITHOUT_REPLAY =
            "methods that the JVM calls are below the last stored context instead of below their "
            + "cause; virtual calls of Object.hashCode are not counted; ";

    /** Limits without the load-time library where call sites are distinguished. */
    private static final String WITHOUT_LINES = "source lines of call sites are not known; ";

    /** Limits of every profile that counts objects. */
    private static final String OF_OBJECTS =
            "; objects that the JVM or native code allocates are not counted (string constants, "
            + "exceptions of the JVM, objects of JNI), nor "
                    + "those whose constructor throws when a native of reflection calls it, nor "
                    + "those that clone, reflection and method handles allocate ";

    private static final String BEFORE_THE_LAUNCHER = "before the launcher runs";

    private static final String WITHOUT_THE_LIBRARY = "(without the load-time library)";

    private static final String OF_INTRINSICS =
            "; objects that intrinsics allocate are not counted";

    /** The value of each key; null for none. */
    final String[] values;

    final ArrayList<String> notes = new ArrayList<String>();

    private Description(String... values) {
        this.values = values;
    }

    /**
     * Describes the run with or without classes that were not rewritten. {@code atTheEnd} adds the
     * facts that are known only at the JVM's end.
     */
    static Description of(boolean rawClasses, boolean atTheEnd) {
        Output[] outputs = Outputs.known().all;
        boolean bodies = !value(outputs, "intrinsics").equals("native");
        boolean natives = !value(outputs, "natives").equals("none");
        ArrayList<String> notes = new ArrayList<String>();
        boolean exact = Exactness.check(rawClasses, bodies, notes);
        String reproducible = value(outputs, "reproducible");
        if (atTheEnd && reproducible.equals("yes") && !Reproducibility.check(notes)) {
            reproducible = "partly";
        }
        Outputs.known().notes(notes);
        String udi = given(outputs, "udi");
        if (udi != null) {
            notes.add("the module " + udi + " transformed classes before they were rewritten"
                    + (LoadTime.givesToModule()
                            ? "" : ", except those that were rewritten at load time")
                    + "; the code that it inserted is counted");
        }
        if (Agents.isNeverAsked()) {
            notes.add(Agents.NEVER_ASKED);
        }
        String selection = atTheEnd ? Selection.text() : Selection.given();
        Description description = new Description(
                Settings.AGENT,
                countsObjects() ? "yes" : null,
                value(outputs, "blocks"),
                distinguishesCallSites() ? "yes" : null,
                given(outputs, "columns"),
                value(outputs, "context").equals("thread") ? "thread" : null,
                given(outputs, "cost-model"),
                exact ? "yes" : "no",
                Settings.IDENTITY.equals("loader") ? "loader" : null,
                value(outputs, "intrinsics"),
                property("java.version"),
                property("java.vm.name"),
                property("java.vm.version"),
                (LoadTime.loaded() ? ""
                        : WITHOUT_REPLAY + (distinguishesCallSites() ? WITHOUT_LINES : ""))
                        + (natives ? "" : WITHOUT_NATIVES) + LIMITS
                        + (bodies ? "" : OF_NATIVE_INTRINSICS)
                        + (countsObjects()
                                ? limitsOfObjects(bodies)
                                        + (natives ? "" : WITHOUT_OBJECTS_OF_NATIVES)
                                : ""),
                mainClass(),
                Settings.MAX_CONTEXTS,
                value(outputs, "metrics"),
                value(outputs, "natives").equals("wrap") ? null : value(outputs, "natives"),
                provenance(outputs),
                Settings.folded(),
                reproducible,
                selection.length() == 0 ? null : selection,
                Threads.leavesOutSystem() ? "left out" : null,
                value(outputs, "tool"));
        description.notes.addAll(notes);
        return description;
    }

    private static String limitsOfObjects(boolean bodies) {
        return OF_OBJECTS + (LoadTime.loaded() ? BEFORE_THE_LAUNCHER : WITHOUT_THE_LIBRARY)
                + (bodies ? "" : OF_INTRINSICS);
    }

    /** Whether contexts are distinguished by the call sites in their callers. */
    static boolean distinguishesCallSites() {
        return value(Outputs.known().all, "call-sites").equals("yes");
    }

    /** Whether a user's module changed classes before they were rewritten. */
    static boolean isGivenToModule() {
        return given(Outputs.known().all, "udi") != null;
    }

    /** Whether the rewritten code can contain markers. */
    static boolean mayHaveMarkers() {
        return given(Outputs.known().all, "markers") != null;
    }

    /** Whether objects are counted. */
    static boolean countsObjects() {
        return value(Outputs.known().all, "allocations").equals("yes");
    }

    /** Whether bytecodes are counted, not calls alone. */
    static boolean countsBytecodes() {
        return !value(Outputs.known().all, "metrics").equals("calls");
    }

    /** Whether there are columns in addition to calls and bytecodes. */
    static boolean hasColumns() {
        return given(Outputs.known().all, "columns") != null;
    }

    private static String property(String name) {
        String value = System.getProperty(name);
        return value == null ? "" : value;
    }

    private static String given(Output[] outputs, String key) {
        return outputs.length == 0 ? null : outputs[0].value(key);
    }

    private static String value(Output[] outputs, String key) {
        String value = given(outputs, key);
        return value == null ? "unknown" : value;
    }

    /**
     * One line for each output: its file's name (without the path) and its {@code key=value} pairs,
     * without the table of costs.
     */
    private static String provenance(Output[] outputs) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < outputs.length; i++) {
            text.append(i == 0 ? "" : "\n").append(outputs[i].file.getName());
            String lines = outputs[i].provenance;
            int from = 0;
            while (from < lines.length()) {
                int end = lines.indexOf('\n', from);
                if (end < 0) {
                    end = lines.length();
                }
                if (!lines.startsWith("costs=", from)) {
                    text.append(' ');
                    for (int k = from; k < end; k++) {
                        text.append(lines.charAt(k));
                    }
                }
                from = end + 1;
            }
        }
        return text.toString();
    }

    /** The main class of the command line, or the name of its jar. */
    private static String mainClass() {
        String command = System.getProperty("sun.java.command");
        if (command == null || command.length() == 0) {
            return "unknown";
        }
        int end = command.indexOf(' ');
        return new File(end < 0 ? command : command.substring(0, end)).getName();
    }
}
