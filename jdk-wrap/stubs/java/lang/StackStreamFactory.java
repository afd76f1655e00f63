package java.lang;

/**
 * The members of JDK 9's StackStreamFactory that the runtime uses, with those that the rewriter
 * adds. Only compiled against, never shipped.
 */
final class StackStreamFactory {
    private StackStreamFactory() {}

    abstract static class AbstractStackWalker<R, T> {
        protected StackWalker walker;
        protected FrameBuffer<? extends T> frameBuffer;

        /**
         * See docs/internals/runtime.md: the first frames that the VM has filled in, if the walk
         * asks only for classes.
         */
        transient Object[] cct$frames;

        /** The native, up to JDK 21. */
        final native int cct$fetchStackFrames(long mode, long anchor, int count, int start,
                Object[] frames);

        /** The native of JDK 22 and 23. */
        final native int cct$fetchStackFrames(int mode, long anchor, int count, int start,
                Object[] frames);

        /** The native, from JDK 24 on. */
        final native int cct$fetchStackFrames(int mode, long anchor, int last, int size, int start,
                Object[] frames);
    }

    abstract static class FrameBuffer<F> {
        abstract F[] frames();
    }
}
