package java.lang;

/**
 * The members of StackTraceElement that the runtime uses, with the methods that the rewriter adds
 * on JDK 9 and later. Only compiled against, never shipped.
 */
public final class StackTraceElement implements java.io.Serializable {
    private static final long serialVersionUID = 1L;

    private StackTraceElement() {}

    public native String getFileName();

    public native int getLineNumber();

    public native String getClassName();

    public native String getMethodName();

    /** The native, up to JDK 18. */
    static native void cct$initStackTraceElements(StackTraceElement[] elements,
            Throwable throwable);

    /** The native, from JDK 19 on. */
    static native void cct$initStackTraceElements(StackTraceElement[] elements, Object backtrace,
            int depth);

    /** The native. */
    static native void cct$initStackTraceElement(StackTraceElement element, StackFrameInfo frame);
}
