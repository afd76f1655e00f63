package cctrewrite.runtime;

import java.io.File;

/**
 * The file that holds the trees where there is a load-time library (docs/use/servers.md). Other
 * processes can read it while the JVM runs, and after somebody has killed the JVM. The natives
 * write all other data into a log: names, and the description of the profile. A board of a few
 * words says where the trees are.
 *
 * <p>The natives call no Java code and wait only for each other. The thread's context may be in any
 * state when they are called.
 */
public final class Arena {
    // Offsets of the words of the board; the same as in the library (crates/arena, layout.rs).
    static final long NEWEST = 64L;
    static final long ALL = 72L;
    static final long SWITCHES = 80L;
    static final long GENERATED = 88L;
    static final long FAILURES = 96L;
    static final long UNATTACHED = 112L;
    static final long REGION_FAILURES = 120L;

    // Kinds of records in the log.
    private static final int META = 2;
    private static final int NOTE = 3;
    private static final int NOTE_WITH_RAW_CLASSES = 4;
    private static final int META_WITH_RAW_CLASSES = 5;
    private static final int RAW_CLASS = 6;
    private static final int INDEX_FILE = 8;
    private static final int INDEX_IN_JAR = 12;

    /** The address of the board; 0 without a file. */
    private static long board;

    /** Why the file that the user named cannot be created, or null. */
    private static String trouble;

    private Arena() {}

    /**
     * Creates the file, before there is any tree.
     *
     * @param given the name that the user gave; null for none, empty for no file at all
     * @param place where `cctrewrite run` would look for it, or null
     */
    static void open(String given, String place) {
        if (given != null && given.length() == 0) {
            return;
        }
        if (given != null) {
            trouble = make(given);
        } else if (place == null || make(place) != null) {
            // Other processes can read a file without a name while the JVM runs.
            make(null);
        }
        board = board();
    }

    /** Why the file that the user named cannot be created, or null. */
    static String trouble() {
        return trouble;
    }

    /** Whether there is a file. */
    public static boolean isOpen() {
        return board != 0L;
    }

    /** Sets a word of the board. */
    static void put(long word, long value) {
        if (board != 0L) {
            CctMemory.U.putLong(null, board + word, value);
        }
    }

    /** A number for a text, which readers find in the log; 0 for null, and without a file. */
    static long name(String text) {
        return board == 0L || text == null ? 0L : text(text);
    }

    /** Logs a class that was not rewritten. */
    static void rawClass(String name) {
        if (board != 0L) {
            say(RAW_CLASS, name, "");
        }
    }

    /** Logs a note for the reader of the profile. */
    static void note(String text) {
        if (board != 0L) {
            say(NOTE, text, "");
        }
    }

    /** Logs a rewritten class that is in no index of the class library ({@link KnownClass}). */
    static void rewritten(String name, long hash, byte[] methods) {
        if (board != 0L) {
            remember(name, hash, methods);
        }
    }

    /**
     * Logs the description of the profile, as far as it is known when the program begins.
     * {@code withRawClasses} is the description that holds if there are classes that were not
     * rewritten.
     */
    static void describe(Description description, Description withRawClasses) {
        if (board == 0L) {
            return;
        }
        for (int i = 0; i < Description.KEYS.length; i++) {
            String value = description.values[i];
            if (value != null) {
                say(META, Description.KEYS[i], value);
                if (!value.equals(withRawClasses.values[i])) {
                    say(META_WITH_RAW_CLASSES, Description.KEYS[i], withRawClasses.values[i]);
                }
            }
        }
        // The library logs the class library's outputs when it adds their indexes.
        Output[] outputs = Outputs.known().all;
        for (int i = 0; i < outputs.length; i++) {
            if (!outputs[i].boot && outputs[i].jar() != null) {
                say(INDEX_IN_JAR, new File(outputs[i].jar()).getAbsolutePath(),
                        outputs[i].provenance);
            } else if (!outputs[i].boot && outputs[i].indexFile() != null) {
                say(INDEX_FILE, outputs[i].indexFile().getAbsolutePath(), outputs[i].provenance);
            }
        }
        for (int i = 0; i < description.notes.size(); i++) {
            say(NOTE, description.notes.get(i), "");
        }
        for (int i = 0; i < withRawClasses.notes.size(); i++) {
            say(NOTE_WITH_RAW_CLASSES, withRawClasses.notes.get(i), "");
        }
    }

    /** Removes the file: the profile has been written, or there will be none. */
    static void end() {
        if (board != 0L) {
            ended();
        }
    }

    /**
     * The file that holds the data of a profile that could not be written; null if there is no such
     * file under any name.
     */
    static String left() {
        return board == 0L ? null : path();
    }

    /**
     * Creates the file.
     *
     * @param path null for a file without a name
     * @return the error, or null
     */
    private static native String make(String path);

    /** The address of the board; 0 without a file. */
    private static native long board();

    /** The name of the file; null if it has none, or does not exist any more. */
    private static native String path();

    /** The address of 1 MiB for trees, a multiple of 4096; 0 when there is no more. */
    public static native long memory();

    private static native long text(String text);

    private static native void say(int kind, String first, String second);

    private static native void remember(String name, long hash, byte[] methods);

    private static native void ended();
}
