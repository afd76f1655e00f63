package cctrewrite.runtime;

/** System properties that programs ask for, too. In bypass. */
final class Property {
    private Property() {}

    /**
     * The value, or null. Equal literals are one object, which keeps its hash code: the program's
     * would never be computed for the first time.
     */
    static String get(String name) {
        return System.getProperty(new String(name));
    }
}
