package java.lang;

import cctrewrite.runtime.Agents;
import cctrewrite.runtime.Layout;
import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Regions;
import cctrewrite.runtime.ThreadCounts;
import cctrewrite.runtime.Threads;
import cctrewrite.runtime.Tracing;
import cctrewrite.runtime.Tree;
import java.lang.invoke.ForceInline;
import sun.misc.Unsafe;

/**
 * What rewritten code calls, through the {@code cct$} helpers of {@code java.lang.Object}
 * (docs/internals/runtime.md).
 *
 * <p><b>Two rules hold in this class and in everything below it.</b>
 *
 * <p>Runtime classes are not rewritten. A library method that they call by its original signature
 * is a wrapper that would be recorded as if the program had called it. Therefore library code is
 * called only while the current thread is in bypass (its field is {@link #BYPASS}, restored in a
 * {@code finally}). Only natives that the rewriter leaves alone may be called freely:
 * {@code Thread.currentThread}, {@code Unsafe}, {@code System.arraycopy}, {@code System.nanoTime};
 * so may {@code Reference.get}. For the same reason no runtime class overrides a concrete method of
 * the library (other than those of {@code Object}): rewritten callers would miss the override.
 *
 * <p>The stack may overflow at any call, and {@code Thread.stop} strikes at any instruction. So
 * bypass begins inside the {@code try} whose {@code finally} ends it, what must change together is
 * changed by the last store (or the later ones need no more stack than what was called before
 * them), and nothing is called in between.
 *
 * <p>Code that can run before the JVM has booted (the helpers, on contexts below {@link #LIMIT})
 * touches no other class. There is no class initialiser here, no lambda, no string switch, no enum
 * and no assertion in what runs early.
 *
 * <p>Where call sites are distinguished, {@link CctSites} has the helpers that take a call site's
 * context. What is here and takes a context deals with both kinds, unless it is named there, too.
 *
 * <p>The helpers are annotated twice because HotSpot knows the annotation by another name since JDK
 * 9. Without it the chains of small methods below each prologue would use up the compilers'
 * inlining depth.
 */
public final class CctRuntime {
    /** Contexts below this are no addresses: nothing is recorded. */
    public static final long LIMIT = 1024L;

    /** The context of a thread that does work of the profiler's own. */
    public static final long BYPASS = 8L;

    /** The context of a thread outside all extents, where recording begins and ends with these. */
    static final long OFF = 16L;

    // Values of Class.cct$inherits; 0 is not yet known (natives.rs).
    private static final long INHERITS = 1L;
    private static final long OVERRIDES = 2L;

    /** Of a method's access flags (JVMS 4.6). */
    private static final int NATIVE = 0x100;

    /**
     * Bytecodes that a loop without calls adds up in a local variable before its node hears of
     * them.
     */
    private static final int PENDING = 1 << 16;

    // Offsets in a node and in a tree's record; the whole of both is in cctrewrite.runtime.Layout.
    private static final long CALLS = 8L;
    private static final long BYTECODES = 16L;
    private static final long SLOTS = 40L;
    private static final long ACTIVATION = 8L;
    private static final long CHUNK_MASK = -4096L;

    /**
     * False until {@link CctHooks#boot()}: before it the runtime may not touch Unsafe, and no
     * thread carries a context.
     */
    private static boolean booted;

    /** Whether the launcher has come to the program. */
    private static volatile boolean launched;

    /**
     * Whether contexts are recorded: from {@link CctHooks#boot()} on, unless
     * {@code -Dcctrewrite.record=off} was given.
     */
    private static boolean recording;

    /** Whether recording begins and ends with extents: nothing is recorded outside them. */
    private static boolean extents;

    /**
     * Whether a method has not been entered yet from whose first entry on everything is recorded.
     */
    private static boolean waiting;

    /**
     * Entries that were not recorded because there was neither stack nor Java heap enough to attach
     * their thread; threads that count at once may lose one.
     */
    private static int unattached;

    /**
     * Where a {@code MemberName} has its flags; 0 as long as natives that method handles lead to
     * are not counted.
     */
    private static long memberFlags;

    private CctRuntime() {}

    /**
     * From now on contexts exist; and they are recorded if it is {@code on}, or in {@code extents},
     * or from the entry of a method on.
     */
    static void start(boolean on, boolean inExtents, boolean waits) {
        extents = inExtents;
        waiting = waits;
        booted = true;
        recording = on;
    }

    /** The launcher comes to the program. */
    public static void launched() {
        launched = true;
    }

    static boolean hasLaunched() {
        return launched;
    }

    static boolean booted() {
        return booted;
    }

    static boolean recording() {
        return recording;
    }

    // ---- bodies ---------------------------------------------------------------------------------

    /** Prologue of a body: the callee's node, entered once more. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enter(long slot, long mid, int count) {
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.child(slot, mid);
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + count);
        }
        return node;
    }

    /**
     * {@link #enter}, with activation counters. Written out, as the next one: a call of it would
     * make the frames of compiled recursions larger, and stacks overflow where they did not.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enterAndTick(long slot, long mid, int tick, int count) {
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.child(slot, mid);
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + count);
        }
        long record = u.getLong(null, node & CHUNK_MASK);
        u.putLong(null, record + ACTIVATION, u.getLong(null, record + ACTIVATION) - tick);
        return node;
    }

    /**
     * {@link #enterAndTick}, then the test of the activation counter: in methods that may call
     * without passing a test on the way.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enterAndPoll(long slot, long mid, int tick, int count) {
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.child(slot, mid);
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + count);
        }
        long record = u.getLong(null, node & CHUNK_MASK);
        long left = u.getLong(null, record + ACTIVATION) - tick;
        u.putLong(null, record + ACTIVATION, left);
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
        CctMemory.U.putLong(null, node + BYTECODES,
                CctMemory.U.getLong(null, node + BYTECODES) + n);
    }

    /**
     * Loop heads where bytecodes are added up in a local variable: what is left for it when much
     * has gone into the node.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static int drain(long node, int pending) {
        if (pending < PENDING) {
            return pending;
        }
        count(node, pending);
        return 0;
    }

    /** Exception handlers and subroutines: the activation counter alone. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void tick(long node, int n) {
        if (node < LIMIT) {
            return;
        }
        long record = CctMemory.U.getLong(null, node & CHUNK_MASK);
        CctMemory.U.putLong(null, record + ACTIVATION,
                CctMemory.U.getLong(null, record + ACTIVATION) - n);
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
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + n);
        }
        long record = u.getLong(null, node & CHUNK_MASK);
        long left = u.getLong(null, record + ACTIVATION) - tick;
        u.putLong(null, record + ACTIVATION, left);
        if (left <= 0L) {
            report(node);
        }
    }

    // ---- call sites -----------------------------------------------------------------------------

    /** Before a call that cannot take a context: the thread carries it. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void store(long slot) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
    }

    /**
     * The slot of the root of the tree in which {@code slot} lies: what natives call back, where
     * these are not represented.
     */
    public static long rootOf(long slot) {
        long address = slot & Layout.ADDRESS;
        if (address < LIMIT) {
            return slot;
        }
        long record = CctMemory.U.getLong(null, address & CHUNK_MASK);
        return CctMemory.U.getLong(null, record + Layout.ROOT) + SLOTS;
    }

    /**
     * Before a call of a method without a body of ours: its entry and its {@code n} bytecodes,
     * which also use up the activation counter.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void leaf(long slot, long mid, int n) {
        if (slot < LIMIT) {
            return;
        }
        enter(slot, mid, n);
    }

    /** {@link #leaf}, when the callee may call back: what it calls hangs below it. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void call(long slot, long mid, int n) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = enter(slot, mid, n) + SLOTS;
    }

    /**
     * Before a virtual call of {@code hashCode}: {@link #store}, and {@link #leaf} when it leads to
     * {@code Object}'s native, which nobody else can count.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void hashCode(Object receiver, long slot, long mid) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
        inheritedHashCode(receiver, slot, mid);
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    static void inheritedHashCode(Object receiver, long context, long mid) {
        if (receiver == null) {
            return;
        }
        long inherits = receiver.getClass().cct$inherits;
        if (inherits != OVERRIDES) {
            inheritsHashCode(receiver.getClass(), inherits, context, mid);
        }
    }

    /**
     * Before a method handle's last step, which leads to {@code member}: {@link #store}, and
     * {@link #call} when it is a native, which nobody else can count.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void link(Object member, long slot) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
        if (isNative(member)) {
            nativeCall(CctNatives.ofMember(member), slot);
        }
    }

    /** Whether a {@code MemberName} is one of a native; never, as long as these are not counted. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    static boolean isNative(Object member) {
        long flags = memberFlags;
        return flags != 0L && member != null && (CctMemory.U.getInt(member, flags) & NATIVE) != 0;
    }

    /**
     * {@link #link} for a virtual method without arguments and with an {@code int} as result:
     * {@code hashCode} leads to the native only if it is not overridden.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void linkHashCode(Object receiver, Object member, long slot) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
        if (isNative(member)) {
            linkedHashCode(receiver, member, slot);
        }
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    static void linkedHashCode(Object receiver, Object member, long context) {
        if (receiver == null) {
            return;
        }
        long inherits = receiver.getClass().cct$inherits;
        if (inherits != OVERRIDES) {
            inheritsHashCode(receiver.getClass(), inherits, context, CctNatives.ofMember(member));
        }
    }

    /** The entry of a native, if it is known; what it calls hangs below it. */
    static void nativeCall(long mid, long context) {
        if (mid != 0L) {
            long node = CctSites.enter(context, mid, 0);
            if ((mid & Layout.SLOT_BITS) != 0L) {
                Thread.currentThread().cct$context = node + SLOTS;
            }
        }
    }

    /**
     * From now on natives that method handles lead to are counted; the offset of
     * {@code MemberName.flags}.
     */
    static void followLinks(long flags) {
        memberFlags = flags;
    }

    private static void inheritsHashCode(Class<?> type, long inherits, long context, long mid) {
        if (inherits == 0L) {
            inherits = LoadTime.loaded() ? LoadTime.inheritsHashCode(type) : OVERRIDES;
            type.cct$inherits = inherits;
        }
        if (inherits == INHERITS && mid != 0L) {
            CctSites.enter(context, mid, 0);
        }
    }

    // ---- entries without a context --------------------------------------------------------------

    /** The current thread; null while nothing can be recorded. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static Object thread() {
        return recording ? Thread.currentThread() : null;
    }

    /**
     * The context that {@code thread}, the current one, carries. Its first entry attaches a tree.
     */
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

    /**
     * Before a native that may call back: the thread carries its slot. Where nothing is recorded
     * the thread goes on saying why.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void carry(Object thread, long slot) {
        if (slot >= LIMIT && thread != null) {
            ((Thread) thread).cct$context = slot;
        }
    }

    /**
     * Prologue of an extent: the context itself inside another one; outside the slot of the root of
     * the thread's tree, which the thread carries from now on.
     */
    public static long begin(Object thread, long context) {
        return context == OFF ? open((Thread) thread) : context;
    }

    // ---- slow paths -----------------------------------------------------------------------------

    /**
     * Gives the thread a tree. When that fails this entry is not recorded, and the next one tries
     * again.
     */
    private static long attach(Thread thread) {
        if (extents) {
            thread.cct$context = OFF;
            return OFF;
        }
        return tree(thread, 0L);
    }

    /**
     * The slot of the root of the thread's tree, which it carries now; without memory it carries on
     * without.
     */
    private static long open(Thread thread) {
        long slot = thread.cct$root;
        if (slot == 0L) {
            return tree(thread, OFF);
        }
        thread.cct$context = slot;
        return slot;
    }

    private static long tree(Thread thread, long otherwise) {
        long slot = otherwise;
        try {
            thread.cct$context = BYPASS;
            long root = Threads.attach(thread);
            if (root != 0L) {
                thread.cct$root = root;
                slot = root;
            }
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

    @java.lang.invoke.DontInline
    @jdk.internal.vm.annotation.DontInline
    static void report(long node) {
        Thread thread = Thread.currentThread();
        if (thread.cct$transition) {
            // The agent could not wait for anything. The next test reports.
            return;
        }
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

    // ---- classes of users' modules --------------------------------------------------------------

    /** What {@link #beginBypass} gives when there is nothing to go back to. */
    private static final long NOT_BEGUN = -1L;

    /** Whether inserted code of a user's module is to do nothing (docs/research/udi.md). */
    public static boolean isBypassed() {
        Thread thread = (Thread) thread();
        return thread == null || thread.cct$context == BYPASS;
    }

    /** Puts the current thread into bypass; what it carried before. */
    public static long beginBypass() {
        Thread thread = (Thread) thread();
        if (thread == null) {
            return NOT_BEGUN;
        }
        long context = thread.cct$context;
        thread.cct$context = BYPASS;
        return context;
    }

    /** Gives the current thread back what it carried. */
    public static void endBypass(long context) {
        Thread thread = (Thread) thread();
        if (thread != null && context != NOT_BEGUN) {
            thread.cct$context = context;
        }
    }

    // ---- what the program says ------------------------------------------------------------------

    /**
     * The methods of {@code cctrewrite.api.Recording}; whether the thread is recorded from now on.
     */
    public static boolean record(Object name, int what) {
        Thread thread = (Thread) thread();
        long context = context(thread);
        // Outside extents a thread can be switched, too; for when it comes into one.
        long slot = (context == OFF ? open(thread) : context) & Layout.ADDRESS;
        if (slot < LIMIT) {
            return false;
        }
        try {
            thread.cct$context = BYPASS;
            return (Tracing.on()
                    ? Tracing.control(slot, name, what) : Regions.control(slot, name, what))
                    && context != OFF;
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * {@code cctrewrite.api.Counts.read}: the numbers of threads as a {@code long[]}; null where
     * nothing is recorded.
     */
    public static Object counts(Object method, int whose) {
        Thread thread = (Thread) thread();
        long context = context(thread);
        // Outside extents a thread can have counts, too.
        long slot = (context == OFF ? open(thread) : context) & Layout.ADDRESS;
        if (slot < LIMIT || Tracing.on()) {
            return null;
        }
        try {
            thread.cct$context = BYPASS;
            return ThreadCounts.read(slot, (String) method, whose);
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * {@code cctrewrite.api.Counts.name}: class, name and descriptor of a method's id as a
     * {@code String[]}; null if unknown.
     */
    public static Object name(long mid) {
        long context = beginBypass();
        try {
            return ThreadCounts.name(mid);
        } finally {
            endBypass(context);
        }
    }

    /** On entry of a method from whose first entry on all threads are recorded. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void startAt() {
        if (waiting) {
            startNow();
        }
    }

    private static void startNow() {
        Thread thread = (Thread) thread();
        long context = context(thread);
        if (thread == null || context == BYPASS) {
            return;
        }
        try {
            thread.cct$context = BYPASS;
            Regions.startAt();
            waiting = false;
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- what the VM calls by itself ------------------------------------------------------------

    /**
     * The context of what the VM calls in the middle of a bytecode (class initialisers,
     * {@code loadClass}, constructors of exceptions ...): not what the thread carries,
     * {@code context}, which whoever stored last has left there, but the node of the method whose
     * bytecode it is. Found by following the stack through the tree. It stays {@code context}
     * without the load-time library, and in a transition ({@link CctTransitions}), when HotSpot
     * does not let anyone walk the stack.
     */
    public static long replay(Object thread, long context) {
        long slot = context & Layout.ADDRESS;
        if (slot < LIMIT || !LoadTime.loaded() || ((Thread) thread).cct$transition) {
            return context;
        }
        long record = CctMemory.U.getLong(null, slot & CHUNK_MASK);
        long found =
                LoadTime.replay((Thread) thread, CctMemory.U.getLong(null, record + Layout.ROOT));
        return found == 0L ? context
                : CctSites.site(Tree.slotOf(found & Layout.ADDRESS, record) | found & Layout.SITE);
    }
}
