package cctrewrite.markers;

/**
 * The JDK that the program runs in, if its class library has markers. On a JVM without rewriting it
 * has none.
 */
final class Image {
    private Image() {}

    static void open() {}

    static boolean isOpen() {
        return false;
    }

    static String said(String key) {
        return null;
    }

    static String place() {
        return null;
    }

    static String tables() {
        return null;
    }

    static String placed() {
        return null;
    }

    static String[] notes() {
        return new String[0];
    }
}
