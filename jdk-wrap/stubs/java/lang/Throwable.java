package java.lang;

import java.io.Serializable;

/** What the runtime uses of JDK 8's Throwable, with the field that the rewriter adds. Only compiled against, never shipped. */
public class Throwable implements Serializable {
    private static final long serialVersionUID = 1L;

    /** See docs/runtime.md: a trace that is being handed out element by element. */
    transient StackTraceElement[] cct$trace;

    public Throwable() {}

    public Throwable(String message) {}

    public Throwable(String message, Throwable cause) {}

    public native String getMessage();

    public native void printStackTrace();

    public final native void addSuppressed(Throwable exception);

    native int getStackTraceDepth();

    native StackTraceElement getStackTraceElement(int index);
}
