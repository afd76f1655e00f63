package cctrewrite.markers;

/**
 * What the command line says: properties {@code cctrewrite.KEY}, and what {@code cctrewrite run}
 * has said for those that are not given.
 */
public final class Options {
    private Options() {}

    /** What is said under a key; null if nothing is. */
    public static String get(String key) {
        String given = System.getProperty("cctrewrite." + key);
        return given != null ? given : Image.said(key);
    }

    /** The same, with what holds if nothing is said. */
    public static String get(String key, String otherwise) {
        String said = get(key);
        return said != null ? said : otherwise;
    }

    /**
     * The files with automata of properties, with path separators between them; null if there are
     * none.
     */
    public static String properties() {
        String said = get("typestate");
        return said != null ? said : Image.tables();
    }

    /** Whether whoever started this JVM waits for what it leaves. */
    public static boolean isAwaited() {
        return Image.place() != null;
    }

    /**
     * Where a file of that kind goes, if nothing is said: beside what whoever started this JVM
     * waits for; else by this name in the working directory.
     */
    public static String place(String kind, String otherwise) {
        String said = get(kind + ".out");
        if (said != null) {
            return said;
        }
        return Image.place() == null ? otherwise : Image.place() + "." + kind;
    }
}
