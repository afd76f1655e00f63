package cctrewrite.runtime;

/**
 * Compares the beginnings of texts. {@code String.startsWith} compares 8 bytes and more by
 * {@code ArraysSupport} since JDK 21, which initialises {@code Long}, and the program would not be
 * the first to use it.
 */
public final class Prefix {
    private Prefix() {}

    /** {@code String.startsWith}. */
    public static boolean of(String text, String prefix) {
        return isAt(text, 0, prefix);
    }

    /** Whether {@code part} stands in {@code text} from {@code at} on. */
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
