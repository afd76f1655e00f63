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
 * The methods that rewritten code calls, through the {@code cct$} helpers of
 * {@code java.lang.Object} (docs/internals/runtime.md).
 *
 * <p><b>Two rules hold in this class and in all code that it calls.</b>
 *
 * <p>Runtime classes are not rewritten. If they call a library method by its original signature,
 * they call a wrapper, which records the call as if it came from the program. So they call library
 * code only while the current thread is in bypass (its field is {@link #BYPASS}, restored in a
 * {@code finally}). They may freely call natives that the rewriter does not change:
 * {@code Thread.currentThread}, {@code Unsafe}, {@code System.arraycopy}, {@code System.nanoTime}.
 * They may also call {@code Reference.get}. For the same reason no runtime class overrides a
 * concrete method of the library (other than those of {@code Object}): rewritten callers would miss
 * the override.
 *
 * <p>The stack may overflow at any call, and {@code Thread.stop} may throw at any instruction. So
 * bypass begins inside the {@code try} whose {@code finally} ends it. Data that must change
 * together changes with the last store. (Or the later stores need no more stack than the calls
 * before them.) There is no call between such stores.
 *
 * <p>Code that can run before the JVM has booted (the helpers, on contexts below {@link #LIMIT})
 * uses no other class. In code that runs early there is no class initialiser, no lambda, no string
 * switch, no enum and no assertion.
 *
 * <p>Where call sites are distinguished, {@link CctSites} has the helpers that take a call site's
 * context. A method of this class that takes a context handles both kinds, unless {@link CctSites}
 * has a method of the same name.
 *
 * <p>The helpers have two annotations because HotSpot uses another name for the annotation since
 * JDK 9. Without the annotations, the chains of small methods below each prologue would use up the
 * compilers' inlining depth.
 */
public final class CctRuntime {
    /** A context below this is no address: nothing is recorded. */
    public static final long LIMIT = 1024L;

    /** The context of a thread that runs the profiler's own code. */
    public static final long BYPASS = 8L;

    /** The context of a thread outside all extents, if the recording is limited to extents. */
    static final long OFF = 16L;

    // Values of Class.cct$inherits; 0 means that the value is unknown (natives.rs).
    private static final long INHERITS = 1L;
    private static final long OVERRIDES = 2L;

    /** A bit of a method's access flags (JVMS 4.6). */
    private static final int NATIVE = 0x100;

    /**
     * The number of bytecodes that a loop without calls adds up in a local variable before it adds
     * them to its node.
     */
    private static final int PENDING = 1 << 16;

    // Offsets in a node and in a tree's record; cctrewrite.runtime.Layout has all of them.
    private static final long CALLS = 8L;
    private static final long BYTECODES = 16L;
    private static final long SLOTS = 40L;
    private static final long ACTIVATION = 8L;
    private static final long CHUNK_MASK = -4096L;

    /**
     * False until {@link CctHooks#boot()}: before that the runtime must not use Unsafe, and no
     * thread has a context.
     */
    private static boolean booted;

    /** Whether the launcher has reached the program. */
    private static volatile boolean launched;

    /**
     * Whether contexts are recorded: from {@link CctHooks#boot()} on, unless
     * {@code -Dcctrewrite.record=off} is given.
     */
    private static boolean recording;

    /** Whether recording is limited to extents. */
    private static boolean extents;

    /** Whether recording still waits for the first entry of a method that starts it. */
    private static boolean waiting;

    /**
     * The number of entries that were not recorded because stack or Java heap did not suffice to
     * attach their thread. An increment may be lost if threads count at once.
     */
    private static int unattached;

    /**
     * The offset of the flags in a {@code MemberName}; 0 while natives called by method handles are
     * not counted.
     */
    private static long memberFlags;

    private CctRuntime() {}

    /**
     * Starts recording contexts: everywhere if {@code on}, only {@code inExtents}, or from the
     * entry of a method on if it {@code waits}.
     */
    static void start(boolean on, boolean inExtents, boolean waits) {
        extents = inExtents;
        waiting = waits;
        booted = true;
        recording = on;
    }

    /** The launcher has reached the program. */
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

    /** Prologue of a body: finds the callee's node and counts the entry. */
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
     * {@link #enter} with activation counters. The code is repeated here and in the next method. A
     * call of {@link #enter} would enlarge the frames of compiled recursions, and stacks would
     * overflow earlier.
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
     * {@link #enterAndTick} with a test of the activation counter, for methods that may call others
     * before they reach a test.
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

    /** Start of a basic block: adds bytecodes. */
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
     * Loop heads where bytecodes are added up in a local variable. Returns the new value of that
     * variable: 0 if it was large enough to be added to the node.
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

    /** Exception handlers and subroutines: changes only the activation counter. */
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

    /** Loop heads: adds bytecodes, changes the activation counter, and tests it. */
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

    /** Runs before a call that cannot take a context: stores the context in the thread. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void store(long slot) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = slot;
    }

    /**
     * The root slot of the tree that contains {@code slot}. Callbacks of natives use it where
     * natives have no contexts.
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
     * Runs before a call of a method whose body is not rewritten: counts its entry and its
     * {@code n} bytecodes, which also use up the activation counter.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void leaf(long slot, long mid, int n) {
        if (slot < LIMIT) {
            return;
        }
        enter(slot, mid, n);
    }

    /** {@link #leaf} for a callee that may call back: its callees become its children. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void call(long slot, long mid, int n) {
        if (slot < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = enter(slot, mid, n) + SLOTS;
    }

    /**
     * Runs before a virtual call of {@code hashCode}. Does {@link #store}. If the call leads to
     * {@code Object}'s native, also does {@link #leaf}: no other code can count that native.
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
     * Runs before a method handle's last step, which leads to {@code member}. Does {@link #store}.
     * If {@code member} is a native, also does {@link #call}: no other code can count that native.
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

    /**
     * Whether a {@code MemberName} refers to a native; always false while natives are not counted.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    static boolean isNative(Object member) {
        long flags = memberFlags;
        return flags != 0L && member != null && (CctMemory.U.getInt(member, flags) & NATIVE) != 0;
    }

    /**
     * {@link #link} for a virtual method without arguments and with an {@code int} as result:
     * {@code hashCode} leads to the native only if the class does not override it.
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

    /** Counts the entry of a native, if it is known. Its callees become its children. */
    static void nativeCall(long mid, long context) {
        if (mid != 0L) {
            long node = CctSites.enter(context, mid, 0);
            if ((mid & Layout.SLOT_BITS) != 0L) {
                Thread.currentThread().cct$context = node + SLOTS;
            }
        }
    }

    /**
     * Starts counting natives that method handles lead to. {@code flags} is the offset of
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
     * The context that {@code thread}, the current thread, has. The thread's first entry attaches a
     * tree.
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

    /** Restores the thread's context after callees have changed it. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void restore(Object thread, long slot) {
        if (thread != null) {
            ((Thread) thread).cct$context = slot;
        }
    }

    /**
     * Runs before a native that may call back: stores the slot in the thread. While nothing is
     * recorded, the thread's field keeps the reason.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void carry(Object thread, long slot) {
        if (slot >= LIMIT && thread != null) {
            ((Thread) thread).cct$context = slot;
        }
    }

    /**
     * Prologue of an extent. Returns the context itself inside another extent. Outside it returns
     * the root slot of the thread's tree, and stores it in the thread.
     */
    public static long begin(Object thread, long context) {
        return context == OFF ? open((Thread) thread) : context;
    }

    // ---- slow paths -----------------------------------------------------------------------------

    /**
     * Gives the thread a tree. If that fails, this entry is not recorded, and the next one tries
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
     * The root slot of the thread's tree, also stored in the thread. Without memory the thread
     * stays outside of extents.
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
            // The program has allocated nothing here, so it must not see the error.
            unattached++;
        } catch (StackOverflowError e) {
            // The program must not see this error, either.
            unattached++;
        } finally {
            thread.cct$context = slot;
        }
        return slot;
    }

    /**
     * The number of entries of new threads that were not recorded because stack or Java heap did
     * not suffice.
     */
    public static int unattached() {
        return unattached;
    }

    /** Excludes a thread that has not started from the recording. */
    public static void bypass(Thread thread) {
        thread.cct$context = BYPASS;
    }

    @java.lang.invoke.DontInline
    @jdk.internal.vm.annotation.DontInline
    static void report(long node) {
        Thread thread = Thread.currentThread();
        if (thread.cct$transition) {
            // In a transition the agent could not wait for anything. The next test reports.
            return;
        }
        long context = thread.cct$context;
        try {
            thread.cct$context = BYPASS;
            Agents.report(node);
        } catch (OutOfMemoryError e) {
            // The program has allocated nothing here, so it must not see the error. The next test
            // reports again.
        } catch (StackOverflowError e) {
            // The program must not see this error, either.
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- classes of users' modules --------------------------------------------------------------

    /** Result of {@link #beginBypass} if there is no state to restore. */
    private static final long NOT_BEGUN = -1L;

    /** Whether inserted code of a user's module must do nothing (docs/research/udi.md). */
    public static boolean isBypassed() {
        Thread thread = (Thread) thread();
        return thread == null || thread.cct$context == BYPASS;
    }

    /** Puts the current thread into bypass. Returns its earlier context. */
    public static long beginBypass() {
        Thread thread = (Thread) thread();
        if (thread == null) {
            return NOT_BEGUN;
        }
        long context = thread.cct$context;
        thread.cct$context = BYPASS;
        return context;
    }

    /** Restores the current thread's context. */
    public static void endBypass(long context) {
        Thread thread = (Thread) thread();
        if (thread != null && context != NOT_BEGUN) {
            thread.cct$context = context;
        }
    }

    // ---- switches by the program ----------------------------------------------------------------

    /**
     * Implements the methods of {@code cctrewrite.api.Recording}. Returns whether the thread is
     * recorded from now on.
     */
    public static boolean record(Object name, int what) {
        Thread thread = (Thread) thread();
        long context = context(thread);
        // The program can switch a thread outside extents, too. The switch takes effect in the next
        // extent.
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

    /** Called on entry of a method that starts the recording of all threads. */
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

    // ---- calls by the VM ------------------------------------------------------------------------

    /**
     * Finds the context of a method that the VM calls in the middle of a bytecode (class
     * initialisers, {@code loadClass}, constructors of exceptions ...). The right parent is the
     * node of the method that executes this bytecode. {@code context}, the thread's context, may be
     * from any earlier store. The load-time library finds the node by following the stack through
     * the tree. The result is {@code context} without that library, and in a transition
     * ({@link CctTransitions}), when HotSpot does not permit stack walks.
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
