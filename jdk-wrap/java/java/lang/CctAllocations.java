package java.lang;

import cctrewrite.runtime.Layout;
import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Tree;
import java.lang.invoke.ForceInline;
import sun.misc.Unsafe;

/**
 * The helpers that count objects ({@code --allocations}; CCCP 5.1), each when it is there. The
 * objects of a type are a node below the context that made them: its id is the type's, and its
 * calls are their number. What holds in {@link CctRuntime} holds here. Contexts may have a call
 * site or none.
 *
 * <p>Where contexts were merged there is no node for a type, and nothing is counted: merged
 * contexts would have calls that are none.
 */
public final class CctAllocations {
    // Of CctRuntime and Layout, folded by javac.
    private static final long ADDRESS = Layout.ADDRESS;
    private static final long LIMIT = CctRuntime.LIMIT;
    private static final long CALLS = Layout.CALLS;

    /** In {@code Class.cct$type}: the JVM or the library does not tell. */
    private static final long UNKNOWN = 1L;

    private CctAllocations() {}

    /**
     * Behind {@code new}, {@code newarray} and {@code anewarray}: one more of the type with the id
     * {@code mid}.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void object(long context, long mid) {
        long slot = context & ADDRESS;
        if (slot < LIMIT) {
            return;
        }
        Unsafe u = CctMemory.U;
        long node = u.getLong(null, slot);
        if (u.getLong(null, node) != mid) {
            node = Tree.childAt(context, mid);
            if (u.getLong(null, node) != mid) {
                return;
            }
        }
        u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + 1L);
    }

    /**
     * Behind {@code multianewarray}, for each of its types: {@code array} is the outermost one, and
     * those of the type with the id {@code mid} are {@code level} levels inside it. All arrays of
     * one level are of one length as long as nobody else has seen them.
     */
    public static void arrays(Object array, long context, long mid, int level) {
        if ((context & ADDRESS) < LIMIT) {
            return;
        }
        long count = inside(array, level);
        if (count != 0L) {
            add(Tree.childAt(context, mid), mid, count);
        }
    }

    /** Behind a call that leads to {@code Object.clone}: what that has made. */
    public static void copy(Object made, long context) {
        if ((context & ADDRESS) < LIMIT || made == null) {
            return;
        }
        long mid = type(made.getClass());
        if (mid != UNKNOWN) {
            object(context, mid);
        }
    }

    /** In the wrapper of a native with this node, which returns what it has made. */
    public static void result(Object made, long node) {
        if (node < LIMIT || made == null) {
            return;
        }
        below(node, made.getClass(), 1L);
    }

    /** The same for an array of arrays: {@code lengths} says how many levels were made. */
    public static void resultArrays(Object made, Object lengths, long node) {
        if (node < LIMIT || made == null) {
            return;
        }
        int levels = ((int[]) lengths).length;
        Object array = made;
        long count = 1L;
        for (int level = 0; level < levels; level++) {
            below(node, array.getClass(), count);
            if (level + 1 < levels) {
                Object[] outer = (Object[]) array;
                if (outer.length == 0) {
                    return;
                }
                count *= outer.length;
                array = outer[0];
            }
        }
    }

    /** How many arrays there are so many levels inside another one. */
    private static long inside(Object array, int level) {
        long count = 1L;
        Object inner = array;
        for (int i = 0; i < level; i++) {
            Object[] outer = (Object[]) inner;
            if (outer.length == 0) {
                return 0L;
            }
            count *= outer.length;
            inner = outer[0];
        }
        return count;
    }

    private static void below(long node, Class<?> type, long count) {
        long mid = type(type);
        if (mid != UNKNOWN) {
            add(Tree.childOf(node, mid, 0L), mid, count);
        }
    }

    private static void add(long node, long mid, long count) {
        Unsafe u = CctMemory.U;
        if (u.getLong(null, node) == mid) {
            u.putLong(null, node + CALLS, u.getLong(null, node + CALLS) + count);
        }
    }

    /** The id of a type. The library that knows the names gives it once. */
    private static long type(Class<?> type) {
        long mid = type.cct$type;
        return mid != 0L ? mid : lookUp(type);
    }

    private static long lookUp(Class<?> type) {
        if (!LoadTime.loaded()) {
            return UNKNOWN;
        }
        // 0 as long as the JVM is not in its live phase.
        long mid = LoadTime.typeId(type);
        type.cct$type = mid;
        return mid != 0L ? mid : UNKNOWN;
    }
}
