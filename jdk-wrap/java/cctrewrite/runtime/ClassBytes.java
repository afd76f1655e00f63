package cctrewrite.runtime;

/**
 * The parts of a class file that the runtime must know before the JVM defines it (JVMS 4.1): its
 * names, its methods, and the rewriter's attribute. This class does not judge malformed files:
 * {@link #parse} returns null, and the JVM reports the error.
 */
public final class ClassBytes {
    private static final int ACC_PRIVATE = 0x0002;
    private static final int ACC_STATIC = 0x0008;
    private static final String ATTRIBUTE = "cctrewrite";
    private static final int ATTRIBUTE_VERSION = 4;

    /** Bytes of the attribute for each method. */
    private static final int ROW = 4;

    private final byte[] b;
    private final int end;
    private final int start;

    /** The position of each constant's tag. */
    private int[] constants;

    /** With slashes. */
    public String name;

    /** Null for java.lang.Object. */
    public String superName;

    public int methods;
    private int[] methodAt;

    /** Whether the class has the rewriter's attribute. */
    public boolean rewritten;

    /** Set only if the class was rewritten. */
    public long classHash;
    public long provenanceHash;

    /** The number of methods that the class file had before it was rewritten; they come first. */
    public int originalMethods;
    private int treatments;

    private ClassBytes(byte[] b, int off, int len) {
        this.b = b;
        this.start = off;
        this.end = off + len;
    }

    /** Null if the bytes are no class file. */
    public static ClassBytes parse(byte[] b, int off, int len) {
        if (b == null || off < 0 || len < 0 || off > b.length - len) {
            return null;
        }
        try {
            ClassBytes c = new ClassBytes(b, off, len);
            return c.parse() ? c : null;
        } catch (IndexOutOfBoundsException e) {
            return null;
        } catch (NegativeArraySizeException e) {
            return null;
        }
    }

    private boolean parse() {
        if (u4(start) != 0xCAFEBABE) {
            return false;
        }
        int at = constantPool(start + 8);
        if (at < 0) {
            return false;
        }
        name = className(u2(at + 2));
        superName = className(u2(at + 4));
        if (name == null) {
            return false;
        }
        at += 8 + 2 * u2(at + 6);
        int fields = u2(at);
        at += 2;
        for (int i = 0; i < fields; i++) {
            at = skipMember(at);
        }
        methods = u2(at);
        at += 2;
        methodAt = new int[methods];
        for (int i = 0; i < methods; i++) {
            methodAt[i] = at;
            at = skipMember(at);
        }
        int attributes = u2(at);
        at += 2;
        for (int i = 0; i < attributes; i++) {
            int length = u4(at + 2);
            if (length < 0 || length > end - at - 6) {
                return false;
            }
            if (isUtf8(u2(at), ATTRIBUTE)) {
                attribute(at + 6, length);
            }
            at += 6 + length;
        }
        return true;
    }

    /**
     * Stores the positions of the constants. Returns the position after them, or -1 for an unknown
     * tag.
     */
    private int constantPool(int at) {
        int count = u2(at);
        constants = new int[count];
        at += 2;
        for (int i = 1; i < count; i++) {
            constants[i] = at;
            switch (u1(at)) {
                case 1: // Utf8
                    at += 3 + u2(at + 1);
                    break;
                case 3: // Integer
                case 4: // Float
                case 9: // Fieldref
                case 10: // Methodref
                case 11: // InterfaceMethodref
                case 12: // NameAndType
                case 17: // Dynamic
                case 18: // InvokeDynamic
                    at += 5;
                    break;
                case 5: // Long
                case 6: // Double
                    at += 9;
                    i++;
                    break;
                case 7: // Class
                case 8: // String
                case 16: // MethodType
                case 19: // Module
                case 20: // Package
                    at += 3;
                    break;
                case 15: // MethodHandle
                    at += 4;
                    break;
                default:
                    return -1;
            }
        }
        return at;
    }

    private int skipMember(int at) {
        int attributes = u2(at + 6);
        at += 8;
        for (int i = 0; i < attributes; i++) {
            int length = u4(at + 2);
            if (length < 0 || length > end - at - 6) {
                throw new IndexOutOfBoundsException();
            }
            at += 6 + length;
        }
        return at;
    }

    private void attribute(int at, int length) {
        if (length < 20 || u2(at) != ATTRIBUTE_VERSION || length < 20 + ROW * u2(at + 18)
                || u2(at + 18) > methods) {
            return;
        }
        rewritten = true;
        classHash = u8(at + 2);
        provenanceHash = u8(at + 10);
        originalMethods = u2(at + 18);
        treatments = at + 20;
    }

    public int slots(int method) {
        return u1(treatments + ROW * method);
    }

    public int onEntry(int method) {
        return u1(treatments + ROW * method + 1);
    }

    public int flags(int method) {
        return u1(treatments + ROW * method + 2);
    }

    /** Whether the method can override a method of a superclass. */
    boolean mayOverride(int method) {
        return (u2(methodAt[method]) & (ACC_PRIVATE | ACC_STATIC)) == 0
                && !methodName(method).startsWith("<");
    }

    public String methodName(int method) {
        return utf8(u2(methodAt[method] + 2));
    }

    public String methodDescriptor(int method) {
        return utf8(u2(methodAt[method] + 4));
    }

    private String className(int index) {
        return index == 0 ? null : utf8(u2(constants[index] + 1));
    }

    private int utf8At(int index) {
        int at = constants[index];
        if (at == 0 || u1(at) != 1) {
            throw new IndexOutOfBoundsException();
        }
        return at;
    }

    private String utf8(int index) {
        int at = utf8At(index);
        int length = u2(at + 1);
        if (length > end - at - 3) {
            throw new IndexOutOfBoundsException();
        }
        return Mutf8.decode(b, at + 3, length);
    }

    private boolean isUtf8(int index, String text) {
        int at = utf8At(index);
        if (u2(at + 1) != text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (u1(at + 3 + i) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Reads a byte. All reads use this method, so that no read goes past the class's end in a
     * longer array.
     */
    private int u1(int at) {
        if (at >= end) {
            throw new IndexOutOfBoundsException();
        }
        return b[at] & 0xFF;
    }

    private int u2(int at) {
        return u1(at) << 8 | u1(at + 1);
    }

    private int u4(int at) {
        return u2(at) << 16 | u2(at + 2);
    }

    private long u8(int at) {
        return (long) u4(at) << 32 | u4(at + 4) & 0xFFFFFFFFL;
    }
}
