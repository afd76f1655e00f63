package cctrewrite.runtime;

import java.io.IOException;

/** Reads the index of an output (docs/reference/formats/index.md) in place. In bypass. */
final class Index {
    private static final int MAGIC = 0x43435449;
    private static final int VERSION = 5;
    private static final int NONE = -1;

    // Bytes of a row in the tables that are sorted by MID.
    private static final int FOREIGN_SIZE = 20;
    private static final int METHOD_SIZE = 14;

    private final byte[] b;
    final String provenance;
    final int classes;
    final int foreign;
    private final int strings;
    private final int stringOffsets;
    private final int stringBytes;
    private final int classOffsets;
    private final int classBytes;
    private final int foreignBytes;
    private final int methods;
    private final int methodBytes;

    /**
     * Reads the header.
     *
     * @throws IOException if the bytes are no index of this version, or are incomplete
     */
    Index(byte[] bytes) throws IOException {
        b = bytes;
        try {
            int length = provenanceLength(bytes);
            provenance = Mutf8.decode(bytes, 12, length);
            int at = 12 + length;
            strings = u4(at);
            stringOffsets = at + 4;
            stringBytes = stringOffsets + 4 * (strings + 1);
            at = stringBytes + u4(stringOffsets + 4 * strings);
            classes = u4(at);
            classOffsets = at + 4;
            classBytes = classOffsets + 4 * (classes + 1);
            at = classBytes + u4(classOffsets + 4 * classes);
            foreign = u4(at);
            foreignBytes = at + 4;
            at = foreignBytes + FOREIGN_SIZE * foreign;
            methods = u4(at);
            methodBytes = at + 4;
            if (strings < 0 || classes < 0 || foreign < 0 || methods < 0
                    || methodBytes + (long) METHOD_SIZE * methods > bytes.length) {
                throw new IOException("damaged index");
            }
        } catch (IndexOutOfBoundsException e) {
            throw new IOException("damaged index");
        }
    }

    /** The length of the provenance lines, which start at byte 12. */
    static int provenanceLength(byte[] head) throws IOException {
        if (head.length < 12 || u4(head, 0) != MAGIC) {
            throw new IOException("no index");
        }
        if (u4(head, 4) != VERSION) {
            throw new IOException("index of version " + u4(head, 4)
                    + ", made by another cctrewrite; this runtime reads version " + VERSION);
        }
        int length = u4(head, 8);
        if (length < 0) {
            throw new IOException("damaged index");
        }
        return length;
    }

    String string(int i) {
        int from = u4(stringOffsets + 4 * i);
        return Mutf8.decode(b, stringBytes + from, u4(stringOffsets + 4 * i + 4) - from);
    }

    /** The number of the string, or -1. */
    int findString(String s) {
        byte[] key = Mutf8.encode(s);
        int low = 0;
        int high = strings - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            int from = u4(stringOffsets + 4 * middle);
            int order = Mutf8.compare(b, stringBytes + from,
                    u4(stringOffsets + 4 * middle + 4) - from, key, 0, key.length);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return NONE;
    }

    /** The first class of that name, or -1. Further classes of that name follow it. */
    int findClass(String name) {
        int key = findString(name);
        if (key == NONE) {
            return NONE;
        }
        int low = 0;
        int high = classes;
        while (low < high) {
            int middle = low + high >>> 1;
            if (u4(classAt(middle)) < key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < classes && u4(classAt(low)) == key ? low : NONE;
    }

    private int classAt(int number) {
        return classBytes + u4(classOffsets + 4 * number);
    }

    String className(int number) {
        return string(u4(classAt(number)));
    }

    /** The superclass's name; null for a class without a superclass. */
    String superName(int number) {
        int name = u4(classAt(number) + 4);
        return name == NONE ? null : string(name);
    }

    long hash(int number) {
        return u8(classAt(number) + 8);
    }

    /**
     * The method with this MID: the number of its class in the upper half, its own number in the
     * lower half; or -1.
     */
    long findMethod(long mid) {
        int at = find(mid, methodBytes, methods, METHOD_SIZE);
        return at == NONE ? NONE : (long) u4(at + 8) << 32 | u2(at + 12);
    }

    /** The number of the foreign method with this MID, or -1. */
    int findForeign(long mid) {
        int at = find(mid, foreignBytes, foreign, FOREIGN_SIZE);
        return at == NONE ? NONE : (at - foreignBytes) / FOREIGN_SIZE;
    }

    /** The position of the row that begins with this MID, or -1. */
    private int find(long mid, int rows, int count, int size) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            int at = rows + size * middle;
            long found = u8(at);
            if (found == mid) {
                return at;
            }
            // MIDs are unsigned.
            if (found + Long.MIN_VALUE < mid + Long.MIN_VALUE) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return NONE;
    }

    /** A cursor over the methods of a class, in class-file order. */
    final class Methods {
        /** The number of methods that are left. */
        int left;
        int name;
        int descriptor;
        int slots;
        int onEntry;
        int flags;
        private int at;

        void of(int classNumber) {
            int record = classAt(classNumber);
            int afterInterfaces = record + 22 + 4 * u2(record + 20);
            left = u2(afterInterfaces);
            at = afterInterfaces + 2;
        }

        /** Moves to the next method. Returns false after the last. */
        boolean next() {
            if (left == 0) {
                return false;
            }
            left--;
            name = varint();
            descriptor = varint();
            // Only the load-time library reads access flags and treatment.
            varint();
            slots = b[at++] & 0xFF;
            onEntry = b[at++] & 0xFF;
            flags = b[at++] & 0xFF;
            at++;
            return true;
        }

        private int varint() {
            int value = 0;
            for (int shift = 0; ; shift += 7) {
                int x = b[at++];
                value |= (x & 0x7F) << shift;
                if (x >= 0) {
                    return value;
                }
            }
        }
    }

    String foreignClass(int i) {
        return string(u4(foreignBytes + FOREIGN_SIZE * i + 8));
    }

    String foreignName(int i) {
        return string(u4(foreignBytes + FOREIGN_SIZE * i + 12));
    }

    String foreignDescriptor(int i) {
        return string(u4(foreignBytes + FOREIGN_SIZE * i + 16));
    }

    private int u2(int at) {
        return (b[at] & 0xFF) << 8 | b[at + 1] & 0xFF;
    }

    private int u4(int at) {
        return u4(b, at);
    }

    private long u8(int at) {
        return (long) u4(at) << 32 | u4(at + 4) & 0xFFFFFFFFL;
    }

    private static int u4(byte[] b, int at) {
        return (b[at] & 0xFF) << 24 | (b[at + 1] & 0xFF) << 16 | (b[at + 2] & 0xFF) << 8
                | b[at + 3] & 0xFF;
    }
}
