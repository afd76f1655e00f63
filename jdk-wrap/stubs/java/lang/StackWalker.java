package java.lang;

/** JDK 9's, by name. Only compiled against, never shipped. */
public final class StackWalker {
    private StackWalker() {}
}
