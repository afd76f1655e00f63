package sun.misc;

/**
 * The operations that {@code sun.misc.Unsafe} of JDK 8 and {@code jdk.internal.misc.Unsafe} of JDK
 * 9 and later share. For the latter the rewriter renames the class, and also {@code getObject} and
 * {@code putObject} where they are called {@code getReference} and {@code putReference}.
 *
 * <p>The operations that the runtime calls while it records must be natives in all JDKs. So
 * addresses are offsets from null: the forms with only an address are Java code since JDK 9. The
 * weaker fences are Java code since JDK 21. Only compiled against, never shipped.
 */
public final class Unsafe {
    private Unsafe() {}

    public static native Unsafe getUnsafe();

    public native Object staticFieldBase(java.lang.reflect.Field field);

    public native long staticFieldOffset(java.lang.reflect.Field field);

    public native Object getObject(Object base, long offset);

    public native long getLong(Object base, long offset);

    public native void putLong(Object base, long offset, long value);

    public native long allocateMemory(long bytes);

    public native Object allocateInstance(Class<?> type) throws InstantiationException;

    public native void freeMemory(long address);

    public native long objectFieldOffset(java.lang.reflect.Field field);

    /** JDK 10 and later. */
    public native long objectFieldOffset(Class<?> type, String field);

    public native int getInt(Object object, long offset);

    public native void putInt(Object object, long offset, int value);

    public native void putBoolean(Object object, long offset, boolean value);

    public native void putObject(Object object, long offset, Object value);

    public native void park(boolean absolute, long nanoseconds);

    public native void fullFence();
}
