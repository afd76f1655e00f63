package cctrewrite.markers;

import cctrewrite.runtime.LoadTime;
import java.io.File;

/**
 * The JDK that the program runs in, if {@code cctrewrite jdk} or {@code run} created it with rules.
 * When the load-time library rewrites the program's classes, it inserts markers by these rules. In
 * other JDKs only {@code instrument} inserts markers.
 */
final class Image {
    /** The folder of the rules; null if the JDK has none. */
    private static final File FOLDER = LoadTime.rules();

    private Image() {}

    static void open() {}

    static boolean isOpen() {
        return FOLDER != null;
    }

    /** A setting of the process that started this JVM, by its key; null if there is none. */
    static String said(String key) {
        return LoadTime.expected() == null ? null : LoadTime.said(key);
    }

    /**
     * Where the process that started this JVM expects its results; null if no process waits for
     * them.
     */
    static String place() {
        return FOLDER == null ? null : LoadTime.expected();
    }

    /** The automata of the properties that the rules implement; null if there are none. */
    static String tables() {
        File tables = new File(FOLDER, "typestate");
        return FOLDER != null && tables.isFile() ? tables.getPath() : null;
    }

    /** How much of the program's classes got markers; null if nothing did. */
    static String placed() {
        return FOLDER == null ? null : LoadTime.marked();
    }

    /**
     * The parts of the program's classes that have no markers, and the rules that match nothing.
     * Without rules, classes that are rewritten at their definition get no markers.
     */
    static String[] notes() {
        if (FOLDER != null) {
            String[] notes = LoadTime.unmarked();
            return notes == null ? new String[0] : notes;
        }
        return LoadTime.loaded() ? new String[] {"classes that were rewritten while they were "
                + "loaded, if any were, are counted and have no markers"} : new String[0];
    }
}
