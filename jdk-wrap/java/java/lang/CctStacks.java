package java.lang;

import cctrewrite.runtime.NullMessages;
import cctrewrite.runtime.Snapshots;
import cctrewrite.runtime.ThreadInfos;

/**
 * Methods that the wrappers of natives that list frames call. {@link CctTraces} defines which
 * frames are hidden (docs/internals/runtime.md).
 *
 * <p>The rules of {@link CctRuntime} hold.
 */
public final class CctStacks {
    private CctStacks() {}

    /** Whether the context belongs to a native that the profiler's own code calls. */
    static boolean own(long context) {
        return context > 0L && context < CctRuntime.LIMIT;
    }

    /** Replaces {@code Throwable.getStackTraceDepth}. */
    public static int getStackTraceDepth(Throwable self) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.depth(self, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** Replaces {@code Throwable.getStackTraceElement}. */
    public static StackTraceElement getStackTraceElement(Throwable self, int index) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.element(self, index, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Replaces {@code Throwable.depth} where the library allocates a stack trace of that length
     * (JDK 9 and later).
     *
     * @param depth the value of the field
     */
    public static int depth(int depth, Throwable self) {
        if (!CctRuntime.booted()) {
            return depth;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.depth(self, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** Replaces {@code StackTraceElement.initStackTraceElements} (JDK 9 to 18). */
    public static void initStackTraceElements(StackTraceElement[] elements, Throwable of) {
        if (!given(elements, of)) {
            StackTraceElement.cct$initStackTraceElements(elements, of);
        }
    }

    /** Replaces {@code StackTraceElement.initStackTraceElements} (JDK 19 and later). */
    public static void initStackTraceElements(StackTraceElement[] elements, Object backtrace,
            int depth) {
        if (!given(elements, backtrace)) {
            StackTraceElement.cct$initStackTraceElements(elements, backtrace, depth);
        }
    }

    private static boolean given(StackTraceElement[] elements, Object of) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            StackTraceElement[] given = CctTraces.given(of);
            if (given == null || given.length != elements.length) {
                return false;
            }
            System.arraycopy(given, 0, elements, 0, given.length);
            return true;
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Filters the result of {@code Thread.getStackTrace0} (JDK 19 and later): an array of elements,
     * or null.
     */
    public static Object filter(Object stack) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return stack == null
                    ? null : CctTraces.visible((StackTraceElement[]) stack, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** Filters the result of {@code jdk.internal.vm.ThreadSnapshot.create} (JDK 25 and later). */
    public static Object snapshot(Object snapshot) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            if (snapshot != null) {
                Snapshots.hide(snapshot, own(context));
            }
            return snapshot;
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Runs after {@code NullPointerException.getExtendedNPEMessage} (JDK 14 and later), which
     * describes the code that threw.
     */
    public static String after$getExtendedNPEMessage(String message, NullPointerException self) {
        if (message == null || !CctRuntime.booted()) {
            return message;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return NullMessages.original(message);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Filters the result of {@code Thread.dumpThreads}. */
    public static StackTraceElement[][] filter(StackTraceElement[][] stacks) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            for (int i = 0; stacks != null && i < stacks.length; i++) {
                if (stacks[i] != null) {
                    stacks[i] = CctTraces.visible(stacks[i], own(context));
                }
            }
            return stacks;
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * The depth to request for {@code n} frames of the program. 0 and negative numbers keep their
     * special meanings.
     */
    public static int depth(int n) {
        return n <= 0 ? n : Integer.MAX_VALUE;
    }

    /** Runs after {@code sun.management.ThreadImpl.getThreadInfo1}, which fills an array. */
    public static void after$getThreadInfo1(long[] ids, int depth, Object infos) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ThreadInfos.hide((Object[]) infos, depth, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** Runs after {@code sun.management.ThreadImpl.dumpThreads0}. */
    public static Object after$dumpThreads0(Object infos, long[] ids, boolean monitors,
            boolean synchronizers, int depth) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ThreadInfos.hide((Object[]) infos, depth, own(context));
            return infos;
        } finally {
            thread.cct$context = context;
        }
    }

    /** Filters the result of {@code SecurityManager.getClassContext}. */
    public static Class<?>[] filter(Class<?>[] classes) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.context(classes);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Runs after {@code SecurityManager.classDepth}. */
    public static int after$classDepth(int depth, SecurityManager self, String name) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.classDepth(depth, name);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Runs after {@code SecurityManager.classLoaderDepth0}. */
    public static int after$classLoaderDepth0(int depth, SecurityManager self) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.classLoaderDepth(depth);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Replaces {@code sun.reflect.Reflection.getCallerClass(int)}. */
    public static Class<?> getCallerClass(int depth) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return CctTraces.caller(depth);
        } finally {
            thread.cct$context = context;
        }
    }
}
