package cctrewrite.markers;

/**
 * Options: the properties {@code cctrewrite.KEY}, or the settings of {@code cctrewrite run} if a
 * property is not given.
 */
public final class Options {
    private Options() {}

    /** The value of a key; null if there is none. */
    public static String get(String key) {
        String given = System.getProperty("cctrewrite." + key);
        return given != null ? given : Image.said(key);
    }

    /** The value of a key, or a default. */
    public static String get(String key, String otherwise) {
        String said = get(key);
        return said != null ? said : otherwise;
    }

    /**
     * The files with automata of properties, joined by the path separator; null if there are none.
     */
    public static String properties() {
        String said = get("typestate");
        return said != null ? said : Image.tables();
    }

    /** Whether the process that started this JVM waits for its results. */
    public static boolean isAwaited() {
        return Image.place() != null;
    }

    /**
     * Where a file of that kind goes. By default it is next to the file that the process that
     * started this JVM waits for, or else has this name in the working directory.
     */
    public static String place(String kind, String otherwise) {
        String said = get(kind + ".out");
        if (said != null) {
            return said;
        }
        return Image.place() == null ? otherwise : Image.place() + "." + kind;
    }
}
