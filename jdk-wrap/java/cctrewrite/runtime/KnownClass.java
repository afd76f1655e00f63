package cctrewrite.runtime;

/**
 * A class that the program has defined, packed into few bytes: a big program has tens of thousands.
 */
final class KnownClass {
    final String superName;

    /** Another class of the same name, from another loader; null for none. */
    final KnownClass sameName;

    /** Zero if the class was not rewritten. */
    final long hash;

    final boolean rewritten;

    /**
     * For each original method: u1 slots, u1 bytecodes of an entry, u1 flags, u2 length and name,
     * u2 length and descriptor. Null if the class was not rewritten.
     */
    private final byte[] methods;

    KnownClass(ClassBytes c, KnownClass sameName) {
        this.superName = c.superName;
        this.sameName = sameName;
        this.hash = c.classHash;
        this.rewritten = c.rewritten;
        this.methods = c.rewritten ? pack(c) : null;
    }

    /** Whether this class, or an earlier one of the same name, is the rewritten class {@code c}. */
    boolean isAlso(ClassBytes c) {
        for (KnownClass k = this; k != null; k = k.sameName) {
            if (k.rewritten && k.hash == c.classHash) {
                return true;
            }
        }
        return false;
    }

    private static byte[] pack(ClassBytes c) {
        byte[] packed = new byte[64 * c.originalMethods + 64];
        int size = 0;
        for (int i = 0; i < c.originalMethods; i++) {
            byte[] name = Mutf8.encode(c.methodName(i));
            byte[] descriptor = Mutf8.encode(c.methodDescriptor(i));
            int more = 7 + name.length + descriptor.length;
            if (size + more > packed.length) {
                packed = resize(packed, size, 2 * packed.length + more);
            }
            packed[size++] = (byte) c.slots(i);
            packed[size++] = (byte) c.onEntry(i);
            packed[size++] = (byte) c.flags(i);
            size = put(packed, size, name);
            size = put(packed, size, descriptor);
        }
        return resize(packed, size, size);
    }

    private static int put(byte[] to, int at, byte[] text) {
        to[at] = (byte) (text.length >> 8);
        to[at + 1] = (byte) text.length;
        System.arraycopy(text, 0, to, at + 2, text.length);
        return at + 2 + text.length;
    }

    /** Null if the class was not rewritten. */
    byte[] methods() {
        return methods;
    }

    private static byte[] resize(byte[] old, int size, int capacity) {
        byte[] bytes = new byte[capacity];
        System.arraycopy(old, 0, bytes, 0, size);
        return bytes;
    }

    /** A cursor over the original methods, in class-file order. */
    static final class Methods {
        private final byte[] b;
        private int next;
        int slots;
        int onEntry;
        int flags;
        private int name;
        private int descriptor;

        Methods(KnownClass of) {
            b = of.methods;
        }

        boolean next() {
            if (b == null || next >= b.length) {
                return false;
            }
            slots = b[next] & 0xFF;
            onEntry = b[next + 1] & 0xFF;
            flags = b[next + 2] & 0xFF;
            name = next + 3;
            descriptor = name + 2 + length(name);
            next = descriptor + 2 + length(descriptor);
            return true;
        }

        private int length(int at) {
            return (b[at] & 0xFF) << 8 | b[at + 1] & 0xFF;
        }

        String name() {
            return Mutf8.decode(b, name + 2, length(name));
        }

        String descriptor() {
            return Mutf8.decode(b, descriptor + 2, length(descriptor));
        }
    }
}
