package cctrewrite.markers;

import java.io.File;
import java.lang.reflect.Method;

/**
 * The JDK in which the program runs, if {@code cctrewrite jdk} or {@code run} made it: beside its
 * class library it has the rules of that, by which the program's classes are marked when they are
 * defined, by a native library.
 */
final class Image {
    /** Beside the class library. */
    private static final String FOLDER = "lib/cctrewrite/markers";

    private static File folder;
    /** Where whoever started this JVM expects what it leaves; null if nobody waits for it. */
    private static String place;

    private Image() {}

    /** Once the JVM has booted, before it looks for the program. */
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
            // Without markers in the program's classes nothing that is said of it would be true.
            System.err.println("cctrewrite: markers: this JDK cannot mark the program: " + trouble);
            Runtime.getRuntime().halt(70);
        }
        folder = found;
    }

    /**
     * Since JDK 9 what clients implement lies in a package of {@code java.base} that nobody may
     * see. The JVM is told; what programs can look at stays as it is.
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

    /** What whoever started this JVM wants, under this key; null if nobody has said. */
    static String said(String key) {
        return place == null ? null : option0(key);
    }

    static String place() {
        return place;
    }

    /** The automata of the properties that the rules are of; null if there are none. */
    static String tables() {
        File tables = new File(folder, "typestate");
        return folder != null && tables.isFile() ? tables.getPath() : null;
    }

    /** How much of the program's classes was marked; null if nothing was. */
    static String placed() {
        return folder == null ? null : placed0();
    }

    /** What is not marked of them, and which rules match nothing. */
    static String[] notes() {
        String[] notes = folder == null ? null : notes0();
        return notes == null ? new String[0] : notes;
    }

    /** Takes what is in the folder; says what is wrong with it, or null. */
    private static native String start0(String folder);

    /** Enters this JVM where that is waited for; says where what it leaves is expected, or null. */
    private static native String enter0();

    private static native String option0(String key);

    private static native String placed0();

    private static native String[] notes0();
}
