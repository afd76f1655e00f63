package java.lang;

/** What the runtime uses of JDK 9's LiveStackFrameInfo. Only compiled against, never shipped. */
final class LiveStackFrameInfo extends StackFrameInfo {
    LiveStackFrameInfo(StackWalker walker) {
        super(walker);
    }
}
