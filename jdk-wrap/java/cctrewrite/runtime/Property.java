package cctrewrite.runtime;

/** Reads system properties that programs also read. In bypass. */
final class Property {
    private Property() {}

    /**
     * The value, or null. The copy of the name is necessary. Equal literals are one object, and
     * that object caches its hash code. So the program's own first lookup would not compute it.
     */
    static String get(String name) {
        return System.getProperty(new String(name));
    }
}
