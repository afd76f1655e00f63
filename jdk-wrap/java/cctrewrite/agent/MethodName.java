package cctrewrite.agent;

/** The method that a context executes, by its original names. */
public final class MethodName {
    private final String className;
    private final String name;
    private final String descriptor;
    private final boolean nativeMethod;
    private final boolean entersMonitor;

    public MethodName(String className, String name, String descriptor, boolean nativeMethod) {
        this(className, name, descriptor, nativeMethod, false);
    }

    /**
     * For the runtime. {@code entersMonitor}: the profile counts monitor entries, and each call of
     * this method is one.
     */
    public MethodName(String className, String name, String descriptor, boolean nativeMethod,
            boolean entersMonitor) {
        this.className = className;
        this.name = name;
        this.descriptor = descriptor;
        this.nativeMethod = nativeMethod;
        this.entersMonitor = entersMonitor;
    }

    /** The binary name with slashes, as in class files. */
    public String className() {
        return className;
    }

    public String name() {
        return name;
    }

    /** The original descriptor. */
    public String descriptor() {
        return descriptor;
    }

    public boolean isNative() {
        return nativeMethod;
    }

    /**
     * Whether this is a type, {@link #className}, and not a method. An array type has its
     * descriptor as name. Where objects are counted, types are contexts below the contexts that
     * allocate them, and {@link Context#calls} is the number of objects.
     */
    public boolean isType() {
        return name.equals("<new>");
    }

    /**
     * Whether this is a column, {@link #name}, and not a method: a further number of a context,
     * like calls and bytecodes. It is a context below the one that has the number, and its
     * {@link Context#calls} is the number.
     */
    public boolean isColumn() {
        return className.isEmpty();
    }

    /**
     * Whether this is a synchronized method in a profile that counts monitor entries. Each call is
     * one entry, in addition to those in the monitor column.
     */
    public boolean entersMonitor() {
        return entersMonitor;
    }

    @Override
    public String toString() {
        return className + '.' + name + descriptor;
    }
}
