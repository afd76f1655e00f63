package jdk.internal.vm;

/**
 * The members of Continuation that the runtime uses; JDK 21 and later. Only compiled against, never
 * shipped.
 */
public class Continuation {
    public static native void pin();

    public static native void unpin();
}
