package java.lang;

/**
 * The members of JDK 9's LiveStackFrameInfo that the runtime uses. Only compiled against, never
 * shipped.
 */
final class LiveStackFrameInfo extends StackFrameInfo {
    LiveStackFrameInfo(StackWalker walker) {
        super(walker);
    }
}
