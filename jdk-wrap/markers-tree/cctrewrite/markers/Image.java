package cctrewrite.markers;

import cctrewrite.runtime.LoadTime;

/** The JDK in which the program runs brings no rules along: markers are where {@code instrument} has put them. */
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

    /** What is rewritten when it is defined gets no markers. */
    static String[] notes() {
        return LoadTime.loaded() ? new String[] {"classes that were rewritten while they were loaded, if any were, are counted and have no markers"} : new String[0];
    }
}
