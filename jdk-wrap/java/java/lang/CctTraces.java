package java.lang;

import cctrewrite.runtime.AddedMembers;
import cctrewrite.runtime.JavaVersion;
import cctrewrite.runtime.Offsets;
import cctrewrite.runtime.Prefix;
import java.util.ArrayList;
import sun.misc.Unsafe;

/**
 * Stacks as the program would see them without rewriting (docs/internals/runtime.md). In bypass.
 *
 * <p>Forwarders have a special line number, and this class hides them. It also hides the frames of
 * the runtime and their callees. It shows those only if the profiler itself asks ({@code own}), for
 * example an agent that prints an exception.
 */
public final class CctTraces {
    /** The line number of forwarders, which no source has. */
    private static final int FORWARDER_LINE = 65535;

    /**
     * The line number of forwarders to natives, which no source has, either. Such a frame
     * represents the native if the native has no frame itself.
     */
    private static final int NATIVE_FORWARDER_LINE = 65534;

    /** The line number that {@link StackTraceElement#isNativeMethod()} tests. */
    private static final int NATIVE_LINE = -2;

    /**
     * Depth of an exception's stack trace: the value of {@code MaxJavaStackTraceDepth} for the
     * program without rewriting.
     */
    private static int limit = 1024;

    private CctTraces() {}

    /**
     * Sets the depth of exceptions' stack traces. As for the JVM, a negative number means no limit.
     */
    public static void limit(int depth) {
        limit = depth < 0 ? Integer.MAX_VALUE : depth;
    }

    /**
     * The value that {@code MaxJavaStackTraceDepth} must have for this depth. A call has up to two
     * forwarders, and lists of classes need a stack trace, too.
     */
    public static long wantedOfTheJvm() {
        if (limit == Integer.MAX_VALUE) {
            return VmTrace.ELEMENT_BY_ELEMENT ? -1L : 0L;
        }
        return 4L * (limit < 1024 ? 1024 : limit);
    }

    /**
     * Whether a value of {@code MaxJavaStackTraceDepth} means no limit: a negative value on JDK 8,
     * where 0 means no frames; 0 since JDK 9.
     */
    public static boolean isNoLimit(long depth) {
        return VmTrace.ELEMENT_BY_ELEMENT ? depth < 0L : depth == 0L;
    }

    // ---- exceptions -----------------------------------------------------------------------------

    /**
     * A stack trace that a thread is reading. {@code before} is an earlier one, which the thread
     * continues to read after the profiler's own work.
     */
    private static final class PendingTrace {
        final Throwable of;
        final Object backtrace;
        final StackTraceElement[] frames;
        final PendingTrace before;

        PendingTrace(Throwable of, Object backtrace, StackTraceElement[] frames,
                PendingTrace before) {
            this.of = of;
            this.backtrace = backtrace;
            this.frames = frames;
            this.before = before;
        }
    }

    /**
     * The number of frames. This computes the frames once, and stores them until the thread has
     * read the last one ({@link #element}) or all of them ({@link #given}).
     */
    static int depth(Throwable t, boolean own) {
        Thread thread = Thread.currentThread();
        StackTraceElement[] trace = trace(t, own);
        Object backtrace = VmTrace.ELEMENT_BY_ELEMENT ? null : VmTrace.backtrace(t);
        // The program never read the rest of an older trace.
        thread.cct$trace = new PendingTrace(t, backtrace, trace,
                own ? (PendingTrace) thread.cct$trace : null);
        return trace.length;
    }

    /** A frame by its number (JDK 8). */
    static StackTraceElement element(Throwable t, int index, boolean own) {
        Thread thread = Thread.currentThread();
        PendingTrace given = (PendingTrace) thread.cct$trace;
        StackTraceElement[] trace = given != null && given.of == t ? given.frames : trace(t, own);
        if (index < 0 || index >= trace.length) {
            // Throws the exception of the native.
            return t.getStackTraceElement(-1);
        }
        if (given == null || given.of != t) {
            thread.cct$trace = new PendingTrace(t, null, trace, null);
        }
        if (index == trace.length - 1) {
            thread.cct$trace = null;
        }
        return trace[index];
    }

    /**
     * The frames of an exception whose {@link #depth} this thread has just requested (JDK 9 and
     * later).
     *
     * @param of the exception or its backtrace
     * @return null if the thread has not requested it
     */
    static StackTraceElement[] given(Object of) {
        Thread thread = Thread.currentThread();
        for (PendingTrace given = (PendingTrace) thread.cct$trace; given != null;
                given = given.before) {
            if (given.of == of || given.backtrace == of) {
                thread.cct$trace = given.before;
                return given.frames;
            }
        }
        return null;
    }

    private static StackTraceElement[] trace(Throwable t, boolean own) {
        VmTrace trace = new VmTrace(t);
        Visible visible = new Visible(trace.depth < limit ? trace.depth : limit, own);
        for (int i = 0; i < trace.depth && visible.count < limit; i++) {
            visible.place(trace.frame(i));
        }
        return visible.all();
    }

    // ---- stacks of threads ----------------------------------------------------------------------

    /** The visible frames of a stack. */
    public static StackTraceElement[] visible(StackTraceElement[] stack, boolean own) {
        return visible(stack, Integer.MAX_VALUE, own, new int[stack.length]);
    }

    /**
     * The visible frames of a stack, at most {@code max}.
     *
     * @param places is filled with each frame's number among the visible ones, or -1
     */
    public static StackTraceElement[] visible(StackTraceElement[] stack, int max, boolean own,
            int[] places) {
        Visible visible = new Visible(stack.length, true);
        int start = 0;
        for (int i = stack.length - 1; i >= 0 && !own && start == 0; i--) {
            if (isRuntime(stack[i])) {
                start = i + 1;
            }
        }
        for (int i = 0; i < stack.length; i++) {
            places[i] = i < start || visible.count >= max ? -1 : visible.place(stack[i]);
        }
        return visible.all();
    }

    /** Collects the visible frames of a stack; the youngest frame comes first. */
    private static final class Visible {
        private StackTraceElement[] frames;
        private int count;
        private final boolean own;
        /** The frame before this one, if it is a native's. */
        private StackTraceElement nativeBefore;

        Visible(int room, boolean own) {
            this.frames = new StackTraceElement[room];
            this.own = own;
        }

        /** Takes the next frame. Returns its number, or -1 if it is hidden. */
        int place(StackTraceElement e) {
            StackTraceElement before = nativeBefore;
            nativeBefore = null;
            int line = e.getLineNumber();
            if (line == FORWARDER_LINE) {
                return -1;
            }
            if (line == NATIVE_FORWARDER_LINE) {
                if (before != null && before.getMethodName().equals(e.getMethodName())
                        && before.getClassName().equals(e.getClassName())) {
                    return -1;
                }
                CctMemory.U.putInt(e, Elements.LINE, NATIVE_LINE);
            } else if (line == NATIVE_LINE) {
                Elements.named(e);
                nativeBefore = e;
            } else if (!own && isRuntime(e)) {
                // Then all frames up to here belong to the profiler.
                count = 0;
                return -1;
            }
            frames[count] = e;
            return count++;
        }

        StackTraceElement[] all() {
            return first(frames, count);
        }
    }

    private static StackTraceElement[] first(StackTraceElement[] trace, int count) {
        if (count == trace.length) {
            return trace;
        }
        StackTraceElement[] shorter = new StackTraceElement[count];
        System.arraycopy(trace, 0, shorter, 0, count);
        return shorter;
    }

    private static boolean isRuntime(StackTraceElement e) {
        return isRuntime(e.getClassName());
    }

    /** Whether a class belongs to the runtime. */
    static boolean isRuntime(String name) {
        return Prefix.of(name, "java.lang.Cct") || Prefix.of(name, "cctrewrite.runtime.");
    }

    // ---- classes of frames ----------------------------------------------------------------------

    /** Whether a frame with this line number is a forwarder. */
    static boolean isForwarder(int line) {
        return line >= NATIVE_FORWARDER_LINE;
    }

    /**
     * The current thread's frames after the runtime's, one at a time. It reads a stack trace, since
     * only that shows which frames are forwarders. A stack trace omits frames that HotSpot hides
     * (lambda classes, method-handle forms), and ends at the JVM's limit.
     */
    private static final class Frames {
        private final VmTrace trace = new VmTrace(new Throwable());
        private int next;
        private StackTraceElement current;
        /** Classes of the natives that were skipped. */
        private final ArrayList<String> natives = new ArrayList<String>();

        Frames() {
            do {
                advance();
            } while (current != null && isRuntime(current));
        }

        StackTraceElement current() {
            return current;
        }

        boolean isForwarder() {
            return CctTraces.isForwarder(current.getLineNumber());
        }

        void advance() {
            current = next < trace.depth ? trace.frame(next++) : null;
        }

        /**
         * Whether HotSpot omits the frame from lists of classes, since it is part of reflection.
         */
        private boolean isReflection() {
            String name = current.getClassName();
            return name.equals("java.lang.reflect.Method")
                    && current.getMethodName().equals("invoke")
                    || Prefix.of(name, "sun.reflect.") && name.indexOf("MethodAccessor") >= 0
                    || Prefix.of(name, "jdk.internal.reflect.")
                            && (name.indexOf("MethodAccessor") >= 0
                                    || name.indexOf("MethodHandleAccessor") >= 0);
        }

        /**
         * Moves to the frame of the next class in HotSpot's list of classes, which omits natives.
         *
         * @return whether there is such a frame; a class without one has a hidden frame
         */
        boolean reach(Class<?> type) {
            while (current != null && (isReflection() || current.getLineNumber() == NATIVE_LINE)) {
                if (!isReflection()) {
                    natives.add(current.getClassName());
                }
                advance();
            }
            return current != null && current.getClassName().equals(CctClasses.name(type));
        }
    }

    /** As {@code SecurityManager.getClassContext()}, without forwarders. */
    static Class<?>[] context(Class<?>[] all) {
        Frames frames = new Frames();
        Class<?>[] kept = new Class<?>[all.length];
        int count = 0;
        for (int i = 0; i < all.length; i++) {
            boolean forwarder;
            if (frames.reach(all[i])) {
                forwarder = frames.isForwarder();
                frames.advance();
            } else {
                // A lambda's class (a hidden class from JDK 15 on) has the frame of one method,
                // which calls no other method of the class, and that of its forwarder.
                forwarder = i > 0 && all[i] == all[i - 1]
                        && CctClasses.name(all[i]).indexOf('/') >= 0;
            }
            if (!forwarder) {
                kept[count++] = all[i];
            }
        }
        Class<?>[] context = new Class<?>[count];
        System.arraycopy(kept, 0, context, 0, count);
        return context;
    }

    /**
     * As {@code Reflection.getCallerClass(int)}. Its own class has number 0, and it also counts
     * natives.
     */
    static Class<?> caller(int depth) {
        Class<?>[] all = SecurityManagers.CONTEXT.getClassContext();
        int at = 0;
        while (all[at] != CctStacks.class) {
            at++;
        }
        // The called method follows the runtime's frames.
        at++;
        if (depth == 0) {
            return all[at];
        }
        Frames frames = new Frames();
        frames.advance();
        int visible = 0;
        for (at++; at < all.length; at++) {
            if (!frames.reach(all[at])) {
                visible++;
            } else {
                // The loop has already counted hidden frames between these natives and their
                // callee.
                int natives = frames.natives.size();
                if (visible < depth && depth <= visible + natives) {
                    return seenFrom(all[at], frames.natives.get(depth - visible - 1));
                }
                visible += natives;
                frames.natives.clear();
                boolean forwarder = frames.isForwarder();
                frames.advance();
                if (forwarder) {
                    continue;
                }
                visible++;
            }
            if (visible == depth) {
                return all[at];
            }
        }
        return null;
    }

    /** The class of this name that {@code caller} refers to. */
    private static Class<?> seenFrom(Class<?> caller, String name) {
        try {
            return Class.forName(name, false, caller.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    /**
     * As {@code SecurityManager.classDepth}. {@code found} is the native's result; it does not
     * count frames of natives.
     */
    static int classDepth(int found, String name) {
        if (found < 0) {
            return found;
        }
        String type = name.replace('/', '.');
        int depth = found;
        Frames frames = new Frames();
        boolean passed = false;
        for (; frames.current() != null; frames.advance()) {
            boolean same = frames.current().getClassName().equals(type);
            if (frames.isForwarder()) {
                // A forwarder may lead from one class to a method of another, and is invisible for
                // the program.
                depth -= same || passed ? 0 : 1;
            } else if (same) {
                return depth;
            } else if (passed && frames.current().getLineNumber() != NATIVE_LINE) {
                depth++;
            }
            passed |= same;
        }
        return passed ? -1 : depth;
    }

    /** As {@code SecurityManager.classLoaderDepth0}. {@code found} is the native's result. */
    static int classLoaderDepth(int found) {
        int depth = found;
        Frames frames = new Frames();
        for (int i = 0; i < found && frames.current() != null; frames.advance()) {
            if (frames.isForwarder()) {
                depth--;
            }
            if (frames.current().getLineNumber() != NATIVE_LINE) {
                i++;
            }
        }
        return depth;
    }

    /**
     * A security manager that no program sees. It is allocated without its constructor, which would
     * ask the program's security manager.
     */
    private static final class SecurityManagers {
        static final SecurityManager CONTEXT = make();

        private static SecurityManager make() {
            try {
                Unsafe u = CctMemory.U;
                Object made = u.allocateInstance(SecurityManager.class);
                u.putBoolean(made, Offsets.of(SecurityManager.class, "initialized"), true);
                return (SecurityManager) made;
            } catch (InstantiationException e) {
                throw new InternalError(e);
            }
        }
    }

    // ---- frames in the VM's form ----------------------------------------------------------------

    /** The frames of an exception in the VM's order, with hidden ones. */
    private static final class VmTrace {
        /** JDK 8 returns the frames one at a time. */
        static final boolean ELEMENT_BY_ELEMENT = JavaVersion.FEATURE == 8;

        final int depth;
        private final Throwable of;
        private final StackTraceElement[] frames;

        VmTrace(Throwable of) {
            this.of = of;
            if (ELEMENT_BY_ELEMENT) {
                depth = of.getStackTraceDepth();
                frames = null;
            } else {
                frames = AllAtOnce.frames(of);
                depth = frames.length;
            }
        }

        StackTraceElement frame(int index) {
            return frames == null ? of.getStackTraceElement(index) : frames[index];
        }

        static Object backtrace(Throwable of) {
            return AllAtOnce.backtrace(of);
        }
    }

    /** JDK 9 and later fill an array, whose length must be the exact depth. */
    private static final class AllAtOnce {
        private static final long DEPTH = Offsets.of(Throwable.class, "depth");

        /**
         * From JDK 19 on the native takes the backtrace, and not the exception. -1 for earlier
         * JDKs.
         */
        private static final long BACKTRACE = JavaVersion.FEATURE >= 19
                ? Offsets.of(Throwable.class, "backtrace") : -1L;

        static Object backtrace(Throwable of) {
            return BACKTRACE < 0L ? null : CctMemory.U.getObject(of, BACKTRACE);
        }

        static StackTraceElement[] frames(Throwable of) {
            StackTraceElement[] frames = new StackTraceElement[CctMemory.U.getInt(of, DEPTH)];
            for (int i = 0; i < frames.length; i++) {
                frames[i] = Elements.empty();
            }
            if (frames.length == 0) {
                return frames;
            }
            if (BACKTRACE < 0L) {
                StackTraceElement.cct$initStackTraceElements(frames, of);
            } else {
                StackTraceElement.cct$initStackTraceElements(frames, backtrace(of), frames.length);
            }
            return frames;
        }
    }

    /** Stack trace elements and their fields. Not initialised before the JVM has booted. */
    static final class Elements {
        private static final long LINE = Offsets.of(StackTraceElement.class, "lineNumber");
        private static final long METHOD = Offsets.of(StackTraceElement.class, "methodName");

        private Elements() {}

        /** An element for the VM to fill in. */
        static StackTraceElement empty() {
            try {
                return (StackTraceElement) CctMemory.U.allocateInstance(StackTraceElement.class);
            } catch (InstantiationException e) {
                throw new InternalError(e);
            }
        }

        /** Replaces the name of a renamed native by its original name. */
        static void named(StackTraceElement e) {
            String name = e.getMethodName();
            if (name != null && Prefix.of(name, AddedMembers.NATIVE_PREFIX)) {
                CctMemory.U.putObject(e, METHOD,
                        name.substring(AddedMembers.NATIVE_PREFIX.length()));
            }
        }

        /** The line number of an element that the VM has filled in. */
        static int line(StackTraceElement e) {
            return CctMemory.U.getInt(e, LINE);
        }
    }
}
