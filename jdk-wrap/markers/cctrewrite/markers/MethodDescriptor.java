package cctrewrite.markers;

/** A method with markers. */
public final class MethodDescriptor {
    private final Class<?> owner;
    private final String name;
    private final String descriptor;

    MethodDescriptor(Class<?> owner, String name, String descriptor) {
        this.owner = owner;
        this.name = name;
        this.descriptor = descriptor;
    }

    /** Its class. */
    public Class<?> owner() {
        return owner;
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** Its descriptor, as in class files. */
    public String descriptor() {
        return descriptor;
    }

    @Override
    public String toString() {
        return owner.getName() + '.' + name + descriptor;
    }
}
