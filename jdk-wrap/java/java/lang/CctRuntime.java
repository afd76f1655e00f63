package java.lang;

import cctrewrite.runtime.Agents;
import cctrewrite.runtime.Definitions;
import cctrewrite.runtime.Finish;
import cctrewrite.runtime.Hidden;
import cctrewrite.runtime.Launch;
import cctrewrite.runtime.Layout;
import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.ThreadInfos;
import cctrewrite.runtime.Threads;
import cctrewrite.runtime.Tree;
import java.lang.invoke.ForceInline;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.security.ProtectionDomain;
import sun.misc.Unsafe;

/**
 * What rewritten code calls, through the {@code cct$} helpers of {@code java.lang.Object} (docs/runtime.md).
 *
 * <p><b>Two rules hold in this class and in everything below it.</b>
 *
 * <p>Runtime classes are not rewritten. A library method that they call by its original signature is a wrapper that would be recorded as
 * if the program had called it. Therefore library code is called only while the current thread is in bypass (its field is {@link
 * #BYPASS}, restored in a {@code finally}). Only natives that the rewriter leaves alone may be called freely: {@code
 * Thread.currentThread}, {@code isAlive}, {@code Unsafe}, {@code System.arraycopy}, {@code System.nanoTime}; so may {@code
 * Reference.get}. For the same reason no runtime class overrides a concrete method of the library (other than those of {@code Object}):
 * rewritten callers would miss the override.
 *
 * <p>The stack may overflow at any call, and {@code Thread.stop} strikes at any instruction. So bypass begins inside the {@code try} whose {@code
 * finally} ends it, what must change together is changed by the last store (or the later ones need no more stack than what was called
 * before them), and nothing is called in between.
 *
 * <p>Code that can run before the JVM has booted (the helpers, on contexts below {@link #LIMIT}) touches no other class. There is no class
 * initialiser here, no lambda, no string switch, no enum and no assertion in what runs early.
 *
 * <p>The helpers are annotated twice because HotSpot knows the annotation by another name since JDK 9. Without it the chains of small
 * methods below each prologue would use up the compilers' inlining depth.
 */
public final class CctRuntime {
    /** Contexts below this are no addresses: nothing is recorded. */
    public static final long LIMIT = 1024L;

    /** The context of a thread that does work of the profiler's own. */
    public static final long BYPASS = 8L;

    // Values of Class.cct$inherits; 0 is not yet known (natives.rs).
    private static final long INHERITS = 1L;
    private static final long OVERRIDES = 2L;

    // Offsets in a node and in a tree's record; the whole of both is in cctrewrite.runtime.Layout.
    private static final long CALLS = 8L;
    private static final long BYTECODES = 16L;
    private static final long SLOTS = 48L;
    private static final long ACTIVATION = 8L;
    private static final long CHUNK_MASK = -4096L;

    /** False until {@link #boot()}: before it the runtime may not touch Unsafe, and no thread carries a context. */
    private static boolean booted;

    /** Whether contexts are recorded: from {@link #boot()} on, unless {@code -Dcctrewrite.record=off} was given. */
    private static boolean recording;

    /** Entries that were not recorded because there was neither stack nor Java heap enough to attach their thread; threads that count at once may lose one. */
    private static int unattached;

    private CctRuntime() {}

    // ---- bodies ------------------------------------------------------------------------------------------------------------------

    /** Prologue of a body: the callee's node, entered once more. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enter(long slot, long mid, int tick, int count) {
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(slot);
        if (u.getLong(node) != mid) {
            node = Tree.child(slot, mid);
        }
        u.putLong(node + CALLS, u.getLong(node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(node + BYTECODES, u.getLong(node + BYTECODES) + count);
        }
        if (tick != 0) {
            long record = u.getLong(node & CHUNK_MASK);
            u.putLong(record + ACTIVATION, u.getLong(record + ACTIVATION) - tick);
        }
        return node;
    }

    /** {@link #enter}, then the test of the activation counter: in methods that may call without passing a test on the way. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enterAndPoll(long slot, long mid, int tick, int count) {
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(slot);
        if (u.getLong(node) != mid) {
            node = Tree.child(slot, mid);
        }
        u.putLong(node + CALLS, u.getLong(node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(node + BYTECODES, u.getLong(node + BYTECODES) + count);
        }
        long record = u.getLong(node & CHUNK_MASK);
        long left = u.getLong(record + ACTIVATION) - tick;
        u.putLong(record + ACTIVATION, left);
        if (left <= 0L) {
            report(node);
        }
        return node;
    }

    /** Start of a basic block. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void count(long node, int n) {
        if (node < LIMIT) {
            return;
        }
        CctMemory.U.putLong(node + BYTECODES, CctMemory.U.getLong(node + BYTECODES) + n);
    }

    /** Exception handlers and subroutines: the activation counter alone. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void tick(long node, int n) {
        if (node < LIMIT) {
            return;
        }
        long record = CctMemory.U.getLong(node & CHUNK_MASK);
        CctMemory.U.putLong(record + ACTIVATION, CctMemory.U.getLong(record + ACTIVATION) - n);
    }

    /** Loop heads: bytecodes, activation counter, and its test. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void loop(long node, int tick, int n) {
        if (node < LIMIT) {
            return;
        }
        Unsafe u = CctMemory.U;
        if (n != 0) {
            u.putLong(node + BYTECODES, u.getLong(node + BYTECODES) + n);
        }
        long record = u.getLong(node & CHUNK_MASK);
        long left = u.getLong(record + ACTIVATION) - tick;
        u.putLong(record + ACTIVATION, left);
        if (left <= 0L) {
            report(node);
        }
    }

    // ---- call sites --------------------------------------------------------------------------------------------------------------

    /** Before a call that cannot take a context: the thread carries it. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void store(long slot) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
    }

    /** Before a call of a method without a body of ours: its entry and its {@code n} bytecodes, which also use up the activation counter. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void leaf(long slot, long mid, int n) {
        if (slot < LIMIT) {
            return;
        }
        enter(slot, mid, n, n);
    }

    /** {@link #leaf}, when the callee may call back: what it calls hangs below it. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void call(long slot, long mid, int n) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = enter(slot, mid, n, n) + SLOTS;
    }

    /**
     * Before a virtual call of {@code hashCode}: {@link #store}, and {@link #leaf} when it leads to {@code Object}'s native, which nobody else can
     * count.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void hashCode(Object receiver, long slot, long mid) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
        if (receiver == null) {
            return;
        }
        long inherits = receiver.getClass().cct$inherits;
        if (inherits != OVERRIDES) {
            inheritsHashCode(receiver.getClass(), inherits, slot, mid);
        }
    }

    private static void inheritsHashCode(Class<?> type, long inherits, long slot, long mid) {
        if (inherits == 0L) {
            inherits = LoadTime.loaded() ? LoadTime.inheritsHashCode(type) : OVERRIDES;
            type.cct$inherits = inherits;
        }
        if (inherits == INHERITS) {
            enter(slot, mid, 0, 0);
        }
    }

    // ---- entries without a context -----------------------------------------------------------------------------------------------

    /** The current thread; null while nothing can be recorded. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static Object thread() {
        return recording ? Thread.currentThread() : null;
    }

    /** The context that {@code thread}, the current one, carries. Its first entry attaches a tree. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long context(Object thread) {
        if (thread == null) {
            return 0L;
        }
        long slot = ((Thread) thread).cct$context;
        return slot != 0L ? slot : attach((Thread) thread);
    }

    /** Undoes what callees stored into the thread. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void restore(Object thread, long slot) {
        if (thread != null) {
            ((Thread) thread).cct$context = slot;
        }
    }

    // ---- slow paths --------------------------------------------------------------------------------------------------------------

    /** Gives the thread a tree. When that fails this entry is not recorded, and the next one tries again. */
    private static long attach(Thread thread) {
        long slot = 0L;
        try {
            thread.cct$context = BYPASS;
            slot = Threads.attach(thread);
        } catch (OutOfMemoryError e) {
            // The program asked for nothing here.
            unattached++;
        } catch (StackOverflowError e) {
            // Likewise.
            unattached++;
        } finally {
            thread.cct$context = slot;
        }
        return slot;
    }

    /** Entries of new threads that were not recorded for want of stack or of Java heap. */
    public static int unattached() {
        return unattached;
    }

    /** Nothing that a thread does which has not been started is recorded. */
    public static void bypass(Thread thread) {
        thread.cct$context = BYPASS;
    }

    private static void report(long node) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            Agents.report(node);
        } catch (OutOfMemoryError e) {
            // The program asked for nothing here. Its next test reports again.
        } catch (StackOverflowError e) {
            // Likewise.
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- the life of the JVM -----------------------------------------------------------------------------------------------------

    /** At the end of {@code System.initializeSystemClass}: from now on everything is recorded. */
    public static void boot() {
        // Library code called here runs with context 0: nothing is recorded yet.
        boolean on = !"off".equals(System.getProperty("cctrewrite.record"));
        LoadTime.load();
        if (CctMemory.SENTINEL != 0L) {
            booted = true;
            recording = on;
        }
    }

    /** On entry of {@code LauncherHelper.checkAndLoadMain}: settings, provenance, agent. */
    public static void launch() {
        if (!booted) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            Launch.launch(recording);
        } finally {
            thread.cct$context = context;
        }
    }

    /** On entry of {@code Shutdown.halt} and at the end of {@code Shutdown.shutdown}: the agent's end, once. */
    public static void finish() {
        if (!recording) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            Finish.finish();
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- what the VM calls by itself ---------------------------------------------------------------------------------------------

    /**
     * The context of what the VM calls in the middle of a bytecode (class initialisers, {@code loadClass}, constructors of exceptions ...): not
     * what the thread carries, {@code context}, which whoever stored last has left there, but the node of the method whose bytecode it is. Found
     * by following the stack through the tree; without the load-time library it stays {@code context}.
     */
    public static long replay(Object thread, long context) {
        if (context < LIMIT || !LoadTime.loaded()) {
            return context;
        }
        long record = CctMemory.U.getLong(context & CHUNK_MASK);
        long node = LoadTime.replay(CctMemory.U.getLong(record + Layout.ROOT));
        return node == 0L ? context : Tree.slotOf(node, record);
    }

    // ---- classes defined while the program runs: one method per native of JDK 8, named after it, with its receiver and parameters. They return
    // ---- the class file that is to be defined: the one that they got, or another ---------------------------------------------------

    /** For {@code ClassLoader.defineClass0}. */
    public static byte[] define$defineClass0(ClassLoader self, String name, byte[] b, int off, int len, ProtectionDomain pd) {
        return define(self, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code ClassLoader.defineClass1}. */
    public static byte[] define$defineClass1(
            ClassLoader self, String name, byte[] b, int off, int len, ProtectionDomain pd, String source) {
        return define(self, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code ClassLoader.defineClass2}. */
    public static ByteBuffer define$defineClass2(
            ClassLoader self, String name, ByteBuffer b, int off, int len, ProtectionDomain pd, String source) {
        if (!booted) {
            return b;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return Definitions.buffer(self, b, off, len);
        } finally {
            thread.cct$context = context;
        }
    }

    /** For {@code sun.misc.Unsafe.defineClass}. */
    public static byte[] define$defineClass(
            Unsafe self, String name, byte[] b, int off, int len, ClassLoader loader, ProtectionDomain pd) {
        return define(loader, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code sun.misc.Unsafe.defineAnonymousClass}. */
    public static byte[] define$defineAnonymousClass(Unsafe self, Class<?> host, byte[] data, Object[] patches) {
        return define(null, host, data, 0, data == null ? 0 : data.length, Definitions.ANONYMOUS, patches);
    }

    /** For {@code java.lang.reflect.Proxy.defineClass0}. */
    public static byte[] define$defineClass0(ClassLoader loader, String name, byte[] b, int off, int len) {
        return define(loader, null, b, off, len, Definitions.PROXY, null);
    }

    private static byte[] define(ClassLoader loader, Class<?> host, byte[] b, int off, int len, int how, Object[] patches) {
        if (!booted) {
            return b;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return Definitions.bytes(loader, host, b, off, len, how, patches);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Where the class file starts in what is defined now, instead of at {@code off} in what was to be. */
    public static int defineOffset(Object now, Object was, int off) {
        return now == was ? off : 0;
    }

    /** How long the class file is in what is defined now, instead of {@code len}. */
    public static int defineLength(Object now, Object was, int len) {
        if (now == was) {
            return len;
        }
        if (now instanceof byte[]) {
            return ((byte[]) now).length;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return Definitions.length(now);
        } finally {
            thread.cct$context = context;
        }
    }

    // Before boot, too: what reflection caches then is what the program sees later. Library code called that early runs with context 0.

    // ---- reflection --------------------------------------------------------------------------------------------------------------

    /** The result of {@code Class.getDeclaredMethods0} without the methods that the rewriter added. */
    public static Method[] filter(Method[] all) {
        if (!booted) {
            return Hidden.methods(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return Hidden.methods(all);
        } finally {
            thread.cct$context = context;
        }
    }

    /** The result of {@code Class.getDeclaredConstructors0} without the constructors that the rewriter added. */
    public static Constructor<?>[] filter(Constructor<?>[] all) {
        if (!booted) {
            return Hidden.constructors(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return Hidden.constructors(all);
        } finally {
            thread.cct$context = context;
        }
    }

    /** The result of {@code Class.getDeclaredFields0} without the fields that the rewriter added. */
    public static Field[] filter(Field[] all) {
        if (!booted) {
            return Hidden.fields(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return Hidden.fields(all);
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- stacks: CctTraces says what is left out of them --------------------------------------------------------------------------

    /** Whether a context is that of a native below the profiler's own work. */
    private static boolean own(long context) {
        return context > 0L && context < LIMIT;
    }

    /** Instead of {@code Throwable.getStackTraceDepth}. */
    public static int getStackTraceDepth(Throwable self) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return CctTraces.depth(self, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** Instead of {@code Throwable.getStackTraceElement}. */
    public static StackTraceElement getStackTraceElement(Throwable self, int index) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return CctTraces.element(self, index, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** The result of {@code Thread.dumpThreads}. */
    public static StackTraceElement[][] filter(StackTraceElement[][] stacks) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
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

    /** How deep a stack must be for {@code n} frames of the program's: 0 and less have meanings of their own. */
    public static int depth(int n) {
        return n <= 0 ? n : Integer.MAX_VALUE;
    }

    /** After {@code sun.management.ThreadImpl.getThreadInfo1}, which fills an array. */
    public static void after$getThreadInfo1(long[] ids, int depth, ThreadInfo[] infos) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            ThreadInfos.hide(infos, depth, own(context));
        } finally {
            thread.cct$context = context;
        }
    }

    /** After {@code sun.management.ThreadImpl.dumpThreads0}. */
    public static ThreadInfo[] after$dumpThreads0(
            ThreadInfo[] infos, long[] ids, boolean monitors, boolean synchronizers, int depth) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            ThreadInfos.hide(infos, depth, own(context));
            return infos;
        } finally {
            thread.cct$context = context;
        }
    }

    /** The result of {@code SecurityManager.getClassContext}. */
    public static Class<?>[] filter(Class<?>[] classes) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return CctTraces.context(classes);
        } finally {
            thread.cct$context = context;
        }
    }

    /** After {@code SecurityManager.classDepth}. */
    public static int after$classDepth(int depth, SecurityManager self, String name) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return CctTraces.classDepth(depth, name);
        } finally {
            thread.cct$context = context;
        }
    }

    /** After {@code SecurityManager.classLoaderDepth0}. */
    public static int after$classLoaderDepth0(int depth, SecurityManager self) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return CctTraces.classLoaderDepth(depth);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Instead of {@code sun.reflect.Reflection.getCallerClass(int)}. */
    public static Class<?> getCallerClass(int depth) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            return CctTraces.caller(depth);
        } finally {
            thread.cct$context = context;
        }
    }
}
