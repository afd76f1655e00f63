package util;

/** Stands for a library. */
public final class Text {
    private Text() {}

    public static String[] words(String line) {
        return line.split(" ");
    }
}
