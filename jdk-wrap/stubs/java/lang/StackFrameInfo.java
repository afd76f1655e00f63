package java.lang;

/**
 * The members of JDK 9's StackFrameInfo that the runtime uses. Only compiled against, never
 * shipped.
 */
class StackFrameInfo {
    StackFrameInfo(StackWalker walker) {}

    native Class<?> declaringClass();
}
