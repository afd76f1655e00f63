package cctrewrite.runtime;

import java.lang.reflect.Field;

/** Where private fields of the library are. In bypass. */
public final class Offsets {
    private Offsets() {}

    /**
     * The offset of a field for {@code Unsafe}. {@code Class.getDeclaredField} would keep all
     * fields of the class, which the program would not ask the JVM for then.
     */
    public static long of(Class<?> type, String name) {
        if (JavaVersion.FEATURE >= 11) {
            return CctMemory.U.objectFieldOffset(type, name);
        }
        Field field = CctClasses.field(type, name);
        if (field == null) {
            throw new NoSuchFieldError(name);
        }
        return CctMemory.U.objectFieldOffset(field);
    }
}
