package java.lang;

import cctrewrite.runtime.Layout;
import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Tree;
import java.lang.invoke.ForceInline;
import sun.misc.Unsafe;

/**
 * The helpers that count objects ({@code --allocations}; CCCP 5.1), each when it exists. The
 * objects of a type are a node below the allocating context. The node's id is the type's, and its
 * calls are the number of objects. The rules of {@link CctRuntime} hold here. A context may contain
 * a call site or none.
 *
 * <p>Merged contexts have no nodes for types, and no objects are counted there: the count would
 * appear as calls of the merged contexts.
 */
public final class CctAllocations {
    // From CctRuntime and Layout, folded by javac.
    private static final long ADDRESS = Layout.ADDRESS;
    private static final long LIMIT = CctRuntime.LIMIT;
    private static final long CALLS = Layout.CALLS;

    /** A value of {@code Class.cct$type}: neither the JVM nor the library knows the id. */
    private static final long UNKNOWN = 1L;

    private CctAllocations() {}

    /**
     * Runs after {@code new}, {@code newarray} and {@code anewarray}: counts one object of the type
     * with the id {@code mid}.
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
     * Runs after {@code multianewarray}, for each of its types. {@code array} is the outermost
     * array. The arrays of the type with the id {@code mid} are {@code level} levels inside it. All
     * arrays of one level have the same length until other code has access to them.
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

    /** Runs after a call that leads to {@code Object.clone}: counts the copy. */
    public static void copy(Object made, long context) {
        if ((context & ADDRESS) < LIMIT || made == null) {
            return;
        }
        long mid = type(made.getClass());
        if (mid != UNKNOWN) {
            object(context, mid);
        }
    }

    /**
     * Counts the object that a native returns. The native's wrapper calls this with the native's
     * node.
     */
    public static void result(Object made, long node) {
        if (node < LIMIT || made == null) {
            return;
        }
        below(node, made.getClass(), 1L);
    }

    /**
     * Counts an array of arrays that a native returns; {@code lengths} has one element for each
     * allocated level.
     */
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

    /** The number of arrays that lie {@code level} levels inside another one. */
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

    /** The id of a type. The load-time library, which knows the names, returns it once. */
    private static long type(Class<?> type) {
        long mid = type.cct$type;
        return mid != 0L ? mid : lookUp(type);
    }

    private static long lookUp(Class<?> type) {
        if (!LoadTime.loaded()) {
            return UNKNOWN;
        }
        // 0 before the JVM's live phase.
        long mid = LoadTime.typeId(type);
        type.cct$type = mid;
        return mid != 0L ? mid : UNKNOWN;
    }
}
