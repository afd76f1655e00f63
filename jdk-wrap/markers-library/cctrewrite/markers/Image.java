package cctrewrite.markers;

import java.io.File;
import java.lang.reflect.Method;

/**
 * The JDK that the program runs in, if {@code cctrewrite jdk} or {@code run} created it. It
 * contains the rules of its class library. A native library inserts markers by these rules into the
 * program's classes when the JVM defines them.
 */
final class Image {
    /** Path from the JDK's home. */
    private static final String FOLDER = "lib/cctrewrite/markers";

    private static File folder;
    /**
     * Where the process that started this JVM expects its results; null if no process waits for
     * them.
     */
    private static String place;

    private Image() {}

    /** Starts the native library when the JVM has booted, before it searches for the program. */
    static void open() {
        String home = System.getProperty("java.home");
        File found = new File(home, FOLDER);
        if (!new File(found, "rules.toml").isFile()) {
            return;
        }
        String trouble;
        try {
            System.load(new File(home, "lib/" + System.mapLibraryName("cctrewrite_loadtime"))
                    .getPath());
            place = enter0();
            export();
            trouble = start0(found.getPath());
        } catch (Throwable thrown) {
            trouble = thrown.toString();
        }
        if (trouble != null) {
            // Without markers in the program's classes no result would be right.
            System.err.println("cctrewrite: markers: this JDK cannot mark the program: " + trouble);
            Runtime.getRuntime().halt(70);
        }
        folder = found;
    }

    /**
     * Exports the interfaces of clients. Since JDK 9 their package is in {@code java.base} and not
     * exported. Only the JVM's own record changes; programs see the same module descriptor as
     * before.
     */
    private static void export() throws ReflectiveOperationException {
        Class<?> module;
        try {
            module = Class.forName("java.lang.Module");
        } catch (ClassNotFoundException e) {
            // JDK 8.
            return;
        }
        Method export = module.getDeclaredMethod("addExportsToAll0", module, String.class);
        export.setAccessible(true);
        export.invoke(null, Class.class.getDeclaredMethod("getModule").invoke(Object.class),
                "cctrewrite.markers");
    }

    static boolean isOpen() {
        return folder != null;
    }

    /** A setting of the process that started this JVM, by its key; null if there is none. */
    static String said(String key) {
        return place == null ? null : option0(key);
    }

    static String place() {
        return place;
    }

    /** The automata of the properties that the rules implement; null if there are none. */
    static String tables() {
        File tables = new File(folder, "typestate");
        return folder != null && tables.isFile() ? tables.getPath() : null;
    }

    /** How much of the program's classes got markers; null if nothing did. */
    static String placed() {
        return folder == null ? null : placed0();
    }

    /**
     * The parts of the program's classes that have no markers, and the rules that match nothing.
     */
    static String[] notes() {
        String[] notes = folder == null ? null : notes0();
        return notes == null ? new String[0] : notes;
    }

    /** Reads the files in the folder. Returns an error, or null. */
    private static native String start0(String folder);

    /**
     * Registers this JVM with a process that waits for it, if any. Returns where that process
     * expects the results, or null.
     */
    private static native String enter0();

    private static native String option0(String key);

    private static native String placed0();

    private static native String[] notes0();
}
