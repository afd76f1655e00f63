package cctrewrite.runtime;

/**
 * HotSpot's messages about null references (JEP 358), which contain the descriptors of called
 * methods. In bypass; JDK 14 and later.
 */
public final class NullMessages {
    private static final String EXTENSION = "long, long[][][][])";

    private NullMessages() {}

    /** The message with the original parameters of the program's methods. */
    public static String original(String message) {
        String original = message;
        for (int at = original.indexOf(EXTENSION); at >= 0; at = original.indexOf(EXTENSION, at)) {
            int end = original.startsWith(", ", at - 2) ? at - 2 : at;
            original = original.substring(0, end)
                    .concat(original.substring(at + EXTENSION.length() - 1));
        }
        return original;
    }
}
