package cctrewrite.runtime;

import java.lang.reflect.Field;

/** Offsets of private fields of the library. In bypass. */
public final class Offsets {
    private Offsets() {}

    /**
     * The offset of a field for {@code Unsafe}. Does not use {@code Class.getDeclaredField}: that
     * would cache all fields of the class, and the program would then not ask the JVM for them.
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
