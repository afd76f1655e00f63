package java.lang;

import cctrewrite.runtime.Layout;
import cctrewrite.runtime.Tree;
import java.lang.invoke.ForceInline;
import sun.misc.Unsafe;

/**
 * The helper that counts columns: numbers of a context in addition to its calls and bytecodes, for
 * example monitor entries ({@code --monitors}) or thrown exceptions. The number of a context is in
 * a leaf below its node, the column's cell. The cell's id is the column's, and its calls are the
 * number. The rules of {@link CctRuntime} hold here.
 *
 * <p>Merged contexts have no cells, and nothing is counted there: the number would appear as calls
 * of the merged contexts.
 */
public final class CctColumns {
    // From CctRuntime and Layout, folded by javac.
    private static final long LIMIT = CctRuntime.LIMIT;
    private static final long CALLS = Layout.CALLS;

    private CctColumns() {}

    /** Adds one to the column with the id {@code mid} of the node that contains {@code slot}. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void column(long slot, long mid) {
        if (slot < LIMIT) {
            return;
        }
        Unsafe u = CctMemory.U;
        long cell = u.getLong(null, slot);
        if (u.getLong(null, cell) != mid) {
            cell = Tree.childAt(slot, mid);
            if (u.getLong(null, cell) != mid) {
                return;
            }
        }
        u.putLong(null, cell + CALLS, u.getLong(null, cell + CALLS) + 1L);
    }
}
