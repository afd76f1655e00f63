package java.lang;

/** What the runtime uses of JDK 9's StackFrameInfo. Only compiled against, never shipped. */
class StackFrameInfo {
    StackFrameInfo(StackWalker walker) {}

    native Class<?> declaringClass();
}
