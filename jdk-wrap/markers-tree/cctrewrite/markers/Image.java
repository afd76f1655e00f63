package cctrewrite.markers;

import cctrewrite.runtime.LoadTime;
import java.io.File;

/**
 * The JDK in which the program runs, if {@code cctrewrite jdk} or {@code run} made it with rules:
 * by these the program's classes get markers when they are rewritten to be counted. In another one
 * markers are where {@code instrument} has put them.
 */
final class Image {
    /** Beside the class library; null if it brings no rules along. */
    private static final File FOLDER = LoadTime.rules();

    private Image() {}

    static void open() {}

    static boolean isOpen() {
        return FOLDER != null;
    }

    /** What whoever started this JVM wants, under this key; null if nobody has said. */
    static String said(String key) {
        return LoadTime.expected() == null ? null : LoadTime.said(key);
    }

    /** Where whoever started this JVM expects what it leaves; null if nobody waits for it. */
    static String place() {
        return FOLDER == null ? null : LoadTime.expected();
    }

    /** The automata of the properties that the rules are of; null if there are none. */
    static String tables() {
        File tables = new File(FOLDER, "typestate");
        return FOLDER != null && tables.isFile() ? tables.getPath() : null;
    }

    /** How much of the program's classes was marked; null if nothing was. */
    static String placed() {
        return FOLDER == null ? null : LoadTime.marked();
    }

    /**
     * What is not marked of them, and which rules match nothing. Without rules what is rewritten
     * when it is defined gets no markers.
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
