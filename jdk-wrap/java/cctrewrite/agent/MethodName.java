package cctrewrite.agent;

/** What a context executes: a method by its original names. */
public final class MethodName {
    private final String className;
    private final String name;
    private final String descriptor;
    private final boolean nativeMethod;

    public MethodName(String className, String name, String descriptor, boolean nativeMethod) {
        this.className = className;
        this.name = name;
        this.descriptor = descriptor;
        this.nativeMethod = nativeMethod;
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
     * Whether this is no method but a type, {@link #className}: an array has its descriptor. Where objects are counted they are contexts below those that make
     * them, whose {@link Context#calls} are the number of objects.
     */
    public boolean isType() {
        return name.equals("<new>");
    }

    @Override
    public String toString() {
        return className + '.' + name + descriptor;
    }
}
