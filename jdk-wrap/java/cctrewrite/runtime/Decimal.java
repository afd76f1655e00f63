package cctrewrite.runtime;

/**
 * Decimal numbers. {@code Long.parseLong} would initialise {@code Long}, and the program would not
 * be the first to use it.
 */
final class Decimal {
    /** That many digits always fit. */
    private static final int DIGITS = 18;

    private Decimal() {}

    /**
     * The number that {@code text} is, with a sign or without; {@code otherwise} if it is none, or
     * has too many digits.
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
