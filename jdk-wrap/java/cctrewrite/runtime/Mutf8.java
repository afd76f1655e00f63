package cctrewrite.runtime;

/**
 * Encodings of strings: modified UTF-8 (JVMS 4.4.7) in class files and indexes, and UTF-8 in
 * profiles.
 */
final class Mutf8 {
    private Mutf8() {}

    /** Decodes modified UTF-8. Never fails: an invalid first byte becomes U+FFFD. */
    static String decode(byte[] b, int off, int len) {
        char[] text = new char[len];
        int size = 0;
        int end = off + len;
        for (int i = off; i < end; ) {
            int x = b[i++] & 0xFF;
            if (x < 0x80) {
                text[size++] = (char) x;
            } else if (x >> 5 == 0x06 && i < end) {
                text[size++] = (char) ((x & 0x1F) << 6 | b[i++] & 0x3F);
            } else if (x >> 4 == 0x0E && i + 1 < end) {
                text[size++] = (char) ((x & 0x0F) << 12 | (b[i] & 0x3F) << 6 | b[i + 1] & 0x3F);
                i += 2;
            } else {
                text[size++] = '\uFFFD';
            }
        }
        return string(text, size);
    }

    /**
     * A string of the first {@code size} characters. From JDK 9 on, the constructor for characters
     * initialises a class that the program must be the first to need. So this method calls it only
     * for characters that do not fit into a byte.
     */
    @SuppressWarnings("deprecation")
    static String string(char[] text, int size) {
        byte[] low = new byte[size];
        for (int i = 0; i < size; i++) {
            if (text[i] > 0xFF) {
                return new String(text, 0, size);
            }
            low[i] = (byte) text[i];
        }
        return new String(low, 0, 0, size);
    }

    static byte[] encode(String s) {
        byte[] bytes = new byte[3 * s.length()];
        int size = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c != 0 && c < 0x80) {
                bytes[size++] = (byte) c;
            } else if (c < 0x800) {
                bytes[size++] = (byte) (0xC0 | c >> 6);
                bytes[size++] = (byte) (0x80 | c & 0x3F);
            } else {
                size = three(bytes, size, c);
            }
        }
        return cut(bytes, size);
    }

    /** Encodes as UTF-8; a lone surrogate becomes U+FFFD (docs/reference/formats/profile.md). */
    static byte[] utf8(String s) {
        byte[] bytes = new byte[3 * s.length()];
        int size = 0;
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (c < 0x80) {
                bytes[size++] = (byte) c;
            } else if (c < 0x800) {
                bytes[size++] = (byte) (0xC0 | c >> 6);
                bytes[size++] = (byte) (0x80 | c & 0x3F);
            } else if (c < 0xD800 || c > 0xDFFF) {
                size = three(bytes, size, c);
            } else if (c < 0xDC00 && i + 1 < s.length() && s.charAt(i + 1) >= 0xDC00
                    && s.charAt(i + 1) <= 0xDFFF) {
                int point = 0x10000 + (c - 0xD800 << 10) + (s.charAt(++i) - 0xDC00);
                bytes[size++] = (byte) (0xF0 | point >> 18);
                bytes[size++] = (byte) (0x80 | point >> 12 & 0x3F);
                bytes[size++] = (byte) (0x80 | point >> 6 & 0x3F);
                bytes[size++] = (byte) (0x80 | point & 0x3F);
            } else {
                size = three(bytes, size, '\uFFFD');
            }
        }
        return cut(bytes, size);
    }

    private static int three(byte[] bytes, int at, char c) {
        bytes[at] = (byte) (0xE0 | c >> 12);
        bytes[at + 1] = (byte) (0x80 | c >> 6 & 0x3F);
        bytes[at + 2] = (byte) (0x80 | c & 0x3F);
        return at + 3;
    }

    private static byte[] cut(byte[] bytes, int size) {
        byte[] exact = new byte[size];
        System.arraycopy(bytes, 0, exact, 0, size);
        return exact;
    }

    /** Compares bytes as unsigned numbers; a prefix comes first. */
    static int compare(byte[] a, int aOff, int aLen, byte[] b, int bOff, int bLen) {
        int common = aLen < bLen ? aLen : bLen;
        for (int i = 0; i < common; i++) {
            int difference = (a[aOff + i] & 0xFF) - (b[bOff + i] & 0xFF);
            if (difference != 0) {
                return difference;
            }
        }
        return aLen - bLen;
    }
}
