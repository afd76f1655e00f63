package cctrewrite.runtime;

/**
 * Filters {@code jdk.internal.vm.ThreadSnapshot} (JDK 25): a stack, and the monitors that its
 * frames hold. In bypass.
 */
public final class Snapshots {
    private Snapshots() {}

    /** Removes hidden frames. */
    public static void hide(Object snapshot, boolean own) {
        long stackTrace = Offsets.of(snapshot.getClass(), "stackTrace");
        StackTraceElement[] stack = (StackTraceElement[]) CctMemory.U.getObject(snapshot,
                stackTrace);
        if (stack == null) {
            return;
        }
        int[] places = new int[stack.length];
        CctMemory.U.putObject(snapshot, stackTrace,
                CctTraces.visible(stack, Integer.MAX_VALUE, own, places));
        long monitors = Offsets.of(snapshot.getClass(), "locks");
        Object[] locks = (Object[]) CctMemory.U.getObject(snapshot, monitors);
        if (locks != null && locks.length != 0) {
            CctMemory.U.putObject(snapshot, monitors,
                    HeldMonitors.ofVisible(locks, "depth", places, null, null));
        }
    }
}
