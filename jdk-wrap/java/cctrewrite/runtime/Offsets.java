package cctrewrite.runtime;

/** Where private fields of the library are. In bypass. */
public final class Offsets {
    private Offsets() {}

    /** The offset of a field for {@code Unsafe}. From one boot class to another, this asks no security manager. */
    public static long of(Class<?> type, String field) {
        try {
            return CctMemory.U.objectFieldOffset(type.getDeclaredField(field));
        } catch (NoSuchFieldException e) {
            throw new NoSuchFieldError(type.getName() + '.' + field);
        }
    }
}
