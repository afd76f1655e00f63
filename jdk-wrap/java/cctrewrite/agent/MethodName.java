package cctrewrite.agent;

/** What a context executes: a method by its original names. */
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
     * For the runtime: {@code entersMonitor} is whether monitors are counted and each call enters
     * one.
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
     * Whether this is no method but a type, {@link #className}: an array has its descriptor. Where
     * objects are counted they are contexts below those that make them, whose {@link Context#calls}
     * are the number of objects.
     */
    public boolean isType() {
        return name.equals("<new>");
    }

    /**
     * Whether this is no method but a column, {@link #name}: a number beside calls and bytecodes.
     * It is a context below the one whose number it is, and its {@link Context#calls} are that
     * number.
     */
    public boolean isColumn() {
        return className.isEmpty();
    }

    /**
     * Whether this is a synchronized method, where entries into monitors are counted: each of its
     * calls is one, beside those of its column.
     */
    public boolean entersMonitor() {
        return entersMonitor;
    }

    @Override
    public String toString() {
        return className + '.' + name + descriptor;
    }
}
