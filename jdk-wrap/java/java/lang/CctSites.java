package java.lang;

import cctrewrite.runtime.Layout;
import cctrewrite.runtime.Tree;
import java.lang.invoke.ForceInline;
import sun.misc.Unsafe;

/**
 * The helpers of {@link CctRuntime} that take the context of a call site, where call sites are
 * distinguished ({@code --call-sites}; JP2). Such a context has the call site in its upper bits
 * ({@link Layout#SITE}): the bytecode index of the call. {@code java.lang.Object} forwards to one
 * of the two classes, since all outputs in a JVM have the same option.
 *
 * <p>The rules of {@link CctRuntime} hold here. Contexts with a site may be negative: the code
 * compares only their addresses.
 *
 * <p>A slot serves one call site, so the child that it leads to was entered from that site, and no
 * test of the site is necessary. There are two exceptions: the first slot, which serves methods
 * that the VM calls in the middle of other bytecodes, and shared slots of methods with more sites
 * than slots. {@link #site} handles these.
 */
public final class CctSites {
    // From CctRuntime and Layout, folded by javac.
    private static final long ADDRESS = Layout.ADDRESS;
    private static final long LIMIT = CctRuntime.LIMIT;
    private static final long CALLS = Layout.CALLS;
    private static final long BYTECODES = Layout.BYTECODES;
    private static final long ACTIVATION = Layout.ACTIVATION;
    private static final long CHUNK_MASK = Layout.CHUNK_MASK;

    private CctSites() {}

    /**
     * Runs after the code has built a context whose slot several sites share: clears the slot if it
     * leads to a child of another site.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long site(long context) {
        long slot = context & ADDRESS;
        if (slot >= LIMIT) {
            Unsafe u = CctMemory.U;
            long child = u.getLong(null, slot);
            // The sentinel consists of its MID only.
            if (child != CctMemory.SENTINEL && ((u.getLong(null, child + Layout.FIRST_CHILD)
                    ^ context) & Layout.SITE) != 0L) {
                u.putLong(null, slot, CctMemory.SENTINEL);
            }
        }
        return context;
    }

    // ---- bodies: as in CctRuntime ---------------------------------------------------------------

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enter(long context, long mid, int count) {
        long slot = context & ADDRESS;
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.childAt(context, mid);
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + count);
        }
        return node;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enterAndTick(long context, long mid, int tick, int count) {
        long slot = context & ADDRESS;
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.childAt(context, mid);
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + count);
        }
        long record = u.getLong(null, node & CHUNK_MASK);
        u.putLong(null, record + ACTIVATION, u.getLong(null, record + ACTIVATION) - tick);
        return node;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static long enterAndPoll(long context, long mid, int tick, int count) {
        long slot = context & ADDRESS;
        if (slot < LIMIT) {
            return 0L;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.childAt(context, mid);
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
        if (count != 0) {
            u.putLong(null, node + BYTECODES, u.getLong(null, node + BYTECODES) + count);
        }
        long record = u.getLong(null, node & CHUNK_MASK);
        long left = u.getLong(null, record + ACTIVATION) - tick;
        u.putLong(null, record + ACTIVATION, left);
        if (left <= 0L) {
            CctRuntime.report(node);
        }
        return node;
    }

    // ---- call sites: as in CctRuntime -----------------------------------------------------------

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void store(long context) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = context;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void leaf(long context, long mid, int n) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        enter(context, mid, n);
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void call(long context, long mid, int n) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = enter(context, mid, n) + Layout.SLOTS;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void hashCode(Object receiver, long context, long mid) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = context;
        CctRuntime.inheritedHashCode(receiver, context, mid);
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void link(Object member, long context) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = context;
        if (CctRuntime.isNative(member)) {
            CctRuntime.nativeCall(CctNatives.ofMember(member), context);
        }
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void linkHashCode(Object receiver, Object member, long context) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        Thread.currentThread().cct$context = context;
        if (CctRuntime.isNative(member)) {
            CctRuntime.linkedHashCode(receiver, member, context);
        }
    }
}
