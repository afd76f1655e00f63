package cctrewrite.markers;

/**
 * The JDK in which the program runs, if that brings along what is marked: on a JVM that was not
 * rewritten it does not.
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
