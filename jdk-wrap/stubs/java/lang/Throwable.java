package java.lang;

import java.io.Serializable;

/** The members of JDK 8's Throwable that the runtime uses. Only compiled against, never shipped. */
public class Throwable implements Serializable {
    private static final long serialVersionUID = 1L;

    public Throwable() {}

    public Throwable(String message) {}

    public Throwable(String message, Throwable cause) {}

    public native String getMessage();

    public native void printStackTrace();

    public final native void addSuppressed(Throwable exception);

    native int getStackTraceDepth();

    native StackTraceElement getStackTraceElement(int index);
}
