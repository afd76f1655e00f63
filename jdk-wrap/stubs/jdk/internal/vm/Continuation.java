package jdk.internal.vm;

/** What the runtime uses of it; JDK 21 and later. Only compiled against, never shipped. */
public class Continuation {
    public static native void pin();

    public static native void unpin();
}
