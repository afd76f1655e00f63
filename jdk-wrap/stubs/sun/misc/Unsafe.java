package sun.misc;

/**
 * The operations that {@code sun.misc.Unsafe} of JDK 8 and {@code jdk.internal.misc.Unsafe} of JDK 9 and later share; the rewriter
 * renames the class for the latter. Those on objects are for JDK 8 alone. Only compiled against, never shipped.
 */
public final class Unsafe {
    private Unsafe() {}

    public static native Unsafe getUnsafe();

    public native Object staticFieldBase(java.lang.reflect.Field field);

    public native long staticFieldOffset(java.lang.reflect.Field field);

    public native Object getObject(Object base, long offset);

    public native byte getByte(long address);

    public native void putByte(long address, byte value);

    public native long getLong(long address);

    public native void putLong(long address, long value);

    public native long allocateMemory(long bytes);

    public native Object allocateInstance(Class<?> type) throws InstantiationException;

    public native void freeMemory(long address);

    public native long objectFieldOffset(java.lang.reflect.Field field);

    public native void putBoolean(Object object, long offset, boolean value);

    public native void putObject(Object object, long offset, Object value);

    public native void park(boolean absolute, long nanoseconds);

    public native void loadFence();

    public native void storeFence();
}
