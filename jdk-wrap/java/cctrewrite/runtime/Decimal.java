package cctrewrite.runtime;

/**
 * Parses decimal numbers. {@code Long.parseLong} would initialise {@code Long} too early: the
 * program must be the first to use it.
 */
final class Decimal {
    /** The largest number of digits that always fits into a long. */
    private static final int DIGITS = 18;

    private Decimal() {}

    /**
     * The number in {@code text}, with or without a sign. Returns {@code otherwise} if it is no
     * number or has too many digits.
     */
    static long of(String text, long otherwise) {
        int start = text.startsWith("-") ? 1 : 0;
        int digits = text.length() - start;
        if (digits < 1 || digits > DIGITS) {
            return otherwise;
        }
        long number = 0L;
        for (int i = start; i < text.length(); i++) {
            char digit = text.charAt(i);
            if (digit < '0' || digit > '9') {
                return otherwise;
            }
            number = 10L * number + (digit - '0');
        }
        return start == 0 ? number : -number;
    }
}
