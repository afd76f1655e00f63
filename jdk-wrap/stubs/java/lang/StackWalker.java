package java.lang;

/** The class of JDK 9, only by name. Only compiled against, never shipped. */
public final class StackWalker {
    private StackWalker() {}
}
