package cctrewrite.runtime;

/**
 * Compares the beginnings of texts. Since JDK 21 {@code String.startsWith} compares 8 bytes and
 * more by {@code ArraysSupport}, which initialises {@code Long}. The program must be the first to
 * do so.
 */
public final class Prefix {
    private Prefix() {}

    /** As {@code String.startsWith}. */
    public static boolean of(String text, String prefix) {
        return isAt(text, 0, prefix);
    }

    /** Whether {@code text} contains {@code part} at position {@code at}. */
    static boolean isAt(String text, int at, String part) {
        int length = part.length();
        if (length > text.length() - at) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (text.charAt(at + i) != part.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}
