package java.lang;

import cctrewrite.runtime.AddedMembers;
import cctrewrite.runtime.Declarations;
import cctrewrite.runtime.Offsets;
import cctrewrite.runtime.Prefix;
import java.lang.StackStreamFactory.AbstractStackWalker;

/**
 * Hides forwarders from {@code StackWalker} (docs/internals/runtime.md). JDK 9 and later.
 *
 * <p>The VM fills a buffer with one batch of frames after another. The first batch comes in
 * {@code callStackWalk}, which then calls back {@code doStackWalk}. The others come in
 * {@code fetchStackFrames}. This class removes forwarders from each batch and fills it up with the
 * next frames. So the class library gets batches of the requested length, and executes the same
 * code as on the plain stack.
 *
 * <p>If a walk asks only for classes, the VM's result does not show which frames are forwarders.
 * Then this class requests frames, in a buffer of its own, and passes on their classes.
 *
 * <p>The rules of {@link CctRuntime} hold.
 */
public final class CctWalks {
    /** A bit of a walk's mode: only classes. */
    private static final int CLASSES = 2;

    /** The additional part in the descriptor of an added method. */
    private static final String EXTENSION = "J[[[[J)";

    private CctWalks() {}

    // ---- the first batch ------------------------------------------------------------------------

    // The arguments of callStackWalk.

    /** JDK 9 to 18. */
    public static Object[] frames$callStackWalk(
            AbstractStackWalker<?, ?> self, long mode, int skip, int count, int start,
            Object[] frames) {
        return framesFor(self, mode, start, frames);
    }

    /** JDK 9 to 18. */
    public static long mode$callStackWalk(
            AbstractStackWalker<?, ?> self, long mode, int skip, int count, int start,
            Object[] frames) {
        return modeFor(mode);
    }

    /** JDK 19 to 21. */
    public static Object[] frames$callStackWalk(
            AbstractStackWalker<?, ?> self, long mode, int skip, Object scope,
            Object continuation, int count, int start, Object[] frames) {
        return framesFor(self, mode, start, frames);
    }

    /** JDK 19 to 21. */
    public static long mode$callStackWalk(
            AbstractStackWalker<?, ?> self, long mode, int skip, Object scope,
            Object continuation, int count, int start, Object[] frames) {
        return modeFor(mode);
    }

    /** JDK 22 and later. */
    public static Object[] frames$callStackWalk(
            AbstractStackWalker<?, ?> self, int mode, int skip, Object scope,
            Object continuation, int count, int start, Object[] frames) {
        return framesFor(self, mode, start, frames);
    }

    /** JDK 22 and later. */
    public static int mode$callStackWalk(
            AbstractStackWalker<?, ?> self, int mode, int skip, Object scope,
            Object continuation, int count, int start, Object[] frames) {
        return (int) modeFor(mode);
    }

    private static long modeFor(long mode) {
        return CctRuntime.booted() ? mode & ~CLASSES : mode;
    }

    private static Object[] framesFor(AbstractStackWalker<?, ?> self, long mode, int start,
            Object[] frames) {
        if (!CctRuntime.booted() || (mode & CLASSES) == 0L) {
            return frames;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Object[] ours = fresh(self, start, frames.length);
            self.cct$frames = ours;
            return ours;
        } finally {
            thread.cct$context = context;
        }
    }

    /** On entry of {@code doStackWalk}: the number of frames that the program may see. */
    public static int num$doStackWalk(AbstractStackWalker<?, ?> self, long anchor, int skip,
            int number, int start, int end) {
        if (!CctRuntime.booted()) {
            return number;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Object[] frames = self.frameBuffer.frames();
            Object[] ours = self.cct$frames;
            Object[] filled = ours == null ? frames : ours;
            Batch batch = new Batch(self, anchor, filled, start, filled.length,
                    CctStacks.own(context));
            int visible = batch.leaveOut(start, end);
            if (ours != null) {
                Classes.handOn(ours, frames, start, visible);
            }
            return visible - start;
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * On entry of {@code doStackWalk}: the end of the visible frames. {@code number} is the result
     * of {@link #num$doStackWalk}.
     */
    public static int end$doStackWalk(AbstractStackWalker<?, ?> self, long anchor, int skip,
            int number, int start, int end) {
        return CctRuntime.booted() ? start + number : end;
    }

    // ---- the other batches ----------------------------------------------------------------------

    /** Replaces the native of JDK 9 to 21. Returns the end of the frames. */
    public static int fetchStackFrames(
            AbstractStackWalker<?, ?> self, long mode, long anchor, int count, int start,
            Object[] frames) {
        if (!CctRuntime.booted()) {
            return self.cct$fetchStackFrames(mode, anchor, count, start, frames);
        }
        return fetch(self, (int) mode, anchor, 1, start + count, start, frames);
    }

    /** Replaces the native of JDK 22 and 23. Returns the end of the frames. */
    public static int fetchStackFrames(
            AbstractStackWalker<?, ?> self, int mode, long anchor, int count, int start,
            Object[] frames) {
        if (!CctRuntime.booted()) {
            return self.cct$fetchStackFrames(mode, anchor, count, start, frames);
        }
        return fetch(self, mode, anchor, 1, start + count, start, frames);
    }

    /** Replaces the native of JDK 24 and later. Returns the number of frames. */
    public static int fetchStackFrames(
            AbstractStackWalker<?, ?> self, int mode, long anchor, int last, int size, int start,
            Object[] frames) {
        if (!CctRuntime.booted()) {
            return self.cct$fetchStackFrames(mode, anchor, last, size, start, frames);
        }
        return fetch(self, mode, anchor, last, size, start, frames) - start;
    }

    private static int fetch(
            AbstractStackWalker<?, ?> self, int mode, long anchor, int last, int limit, int start,
            Object[] frames) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            boolean classes = (mode & CLASSES) != 0;
            Object[] filled = classes ? fresh(self, start, frames.length) : frames;
            if (classes) {
                // The VM identifies a walk's buffer by this element, which it has put into the
                // first buffer.
                filled[0] = self.cct$frames[0];
            }
            Batch batch = new Batch(self, anchor, filled, start, limit, CctStacks.own(context));
            int visible = batch.leaveOut(start, batch.fetch(mode & ~CLASSES, last, start));
            if (classes) {
                Classes.handOn(filled, frames, start, visible);
            }
            return visible;
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- frames ---------------------------------------------------------------------------------

    /** One batch, in bypass. */
    private static final class Batch {
        /**
         * {@code long.class} is a field of {@code Long}; reading it would initialise that class.
         */
        private static final Class<?> LONG = long[].class.getComponentType();

        /** The variant of the native in this class library. */
        private static final boolean COUNTS = has(int.class, LONG, int.class, int.class, int.class,
                Object[].class);
        private static final boolean LONG_MODE =
                has(LONG, LONG, int.class, int.class, Object[].class);
        private static final long MODE = Offsets.of(AbstractStackWalker.class, "mode");

        private final AbstractStackWalker<?, ?> walk;
        private final long anchor;
        private final Object[] frames;
        private final int limit;
        private final boolean own;
        /** The VM writes the line number of each frame into this element. */
        private final StackTraceElement element = CctTraces.Elements.empty();

        Batch(AbstractStackWalker<?, ?> walk, long anchor, Object[] frames, int start, int limit,
                boolean own) {
            this.walk = walk;
            this.anchor = anchor;
            this.frames = frames;
            this.limit = limit;
            this.own = own;
        }

        /**
         * Lets the VM fill the buffer from {@code start} up to the limit. Returns the end of the
         * frames.
         */
        int fetch(int mode, int last, int start) {
            if (COUNTS) {
                return start + walk.cct$fetchStackFrames(mode, anchor, last, limit, start, frames);
            }
            if (LONG_MODE) {
                return walk.cct$fetchStackFrames((long) mode, anchor, limit - start, start, frames);
            }
            return walk.cct$fetchStackFrames(mode, anchor, limit - start, start, frames);
        }

        /**
         * Removes forwarders from the VM's frames and fills up the buffer with others. Returns the
         * end of the frames.
         */
        int leaveOut(int start, int end) {
            int mode = LONG_MODE
                    ? (int) CctMemory.U.getLong(walk, MODE) : CctMemory.U.getInt(walk, MODE);
            int visible = move(start, end);
            while (end == limit && visible < limit) {
                // The VM returned as many frames as requested, so there may be more.
                int next = visible;
                end = fetch(mode & ~CLASSES, 1, next);
                visible = move(next, end);
            }
            return visible;
        }

        /** Moves visible frames to the front and puts empty ones after them. */
        private int move(int start, int end) {
            int visible = start;
            for (int i = start; i < end; i++) {
                if (isVisible(frames[i])) {
                    frames[visible++] = frames[i];
                }
            }
            for (int i = visible; i < end; i++) {
                // A new object: not one of the frames in front, and not one that still contains
                // data of another frame.
                frames[i] = frames[i].getClass() == StackFrameInfo.class
                        ? new StackFrameInfo(walk.walker)
                        : new LiveStackFrameInfo(walk.walker);
            }
            return visible;
        }

        private boolean isVisible(Object frame) {
            StackFrameInfo info = (StackFrameInfo) frame;
            StackTraceElement.cct$initStackTraceElement(element, info);
            return !CctTraces.isForwarder(CctTraces.Elements.line(element))
                    && (own || !CctTraces.isRuntime(CctClasses.name(info.declaringClass())));
        }

        private static boolean has(Class<?>... parameters) {
            return Declarations.has(AbstractStackWalker.class, "fetchStackFrames", parameters);
        }
    }

    private static Object[] fresh(AbstractStackWalker<?, ?> self, int start, int length) {
        Object[] frames = new Object[length];
        for (int i = start; i < length; i++) {
            frames[i] = new StackFrameInfo(self.walker);
        }
        return frames;
    }

    /**
     * The results of walks that ask only for classes: the classes, or from JDK 22 on objects that
     * hold them.
     */
    private static final class Classes {
        static void handOn(Object[] ours, Object[] frames, int start, int end) {
            for (int i = start; i < end; i++) {
                if (frames instanceof Class[]) {
                    frames[i] = ((StackFrameInfo) ours[i]).declaringClass();
                } else {
                    ClassFrames.handOn((StackFrameInfo) ours[i], frames[i]);
                }
            }
        }
    }

    private static final class ClassFrames {
        private static final long CLASS = Offsets.of(ClassFrameInfo.class, "classOrMemberName");
        private static final long FLAGS = Offsets.of(ClassFrameInfo.class, "flags");

        static void handOn(StackFrameInfo from, Object to) {
            CctMemory.U.putObject(to, CLASS, from.declaringClass());
            CctMemory.U.putInt(to, FLAGS, CctMemory.U.getInt(from, FLAGS));
        }
    }

    // ---- methods of frames ----------------------------------------------------------------------

    /** Runs after {@code StackFrameInfo.expandStackFrameInfo} (JDK 22 and later). */
    public static void after$expandStackFrameInfo(StackFrameInfo self) {
        withoutExtension(self);
    }

    /**
     * Runs before {@code MemberName.expandFromVM} returns: up to JDK 21 frames have a
     * {@code MemberName}.
     */
    public static void expanded(Object self) {
        withoutExtension(self);
    }

    /**
     * Removes the extension from the type of a method that the VM has found by a frame. That type
     * is a descriptor, and may be the one of an extended form.
     */
    private static void withoutExtension(Object info) {
        if (!CctRuntime.booted()) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            long offset = Offsets.of(info.getClass(), "type");
            Object type = CctMemory.U.getObject(info, offset);
            if (type instanceof String) {
                String descriptor = (String) type;
                int at = descriptor.indexOf(EXTENSION);
                if (at >= 0) {
                    String end = descriptor.substring(at + EXTENSION.length() - 1);
                    CctMemory.U.putObject(info, offset, descriptor.substring(0, at).concat(end));
                }
            }
            long named = Offsets.of(info.getClass(), "name");
            Object name = CctMemory.U.getObject(info, named);
            if (name instanceof String && Prefix.of((String) name, AddedMembers.NATIVE_PREFIX)) {
                CctMemory.U.putObject(info, named,
                        ((String) name).substring(AddedMembers.NATIVE_PREFIX.length()));
            }
        } finally {
            thread.cct$context = context;
        }
    }
}
