package cctrewrite.runtime;

/**
 * Filters the results of {@code ThreadMXBean}: stacks, and the monitors that their frames hold. In
 * bypass.
 *
 * <p>The code does not name the result classes: from JDK 9 on they are in a module that
 * {@code java.base} does not read.
 */
public final class ThreadInfos {
    private ThreadInfos() {}

    /**
     * Removes hidden frames, and frames deeper than {@code max} unless that is negative.
     *
     * @param infos new objects of {@code java.lang.management.ThreadInfo}
     */
    public static void hide(Object[] infos, int max, boolean own) {
        for (int i = 0; infos != null && i < infos.length; i++) {
            if (infos[i] != null) {
                hide(infos[i], max < 0 ? Integer.MAX_VALUE : max, own);
            }
        }
    }

    private static void hide(Object info, int max, boolean own) {
        long stackTrace = Offsets.of(info.getClass(), "stackTrace");
        long lockedMonitors = Offsets.of(info.getClass(), "lockedMonitors");
        StackTraceElement[] stack = (StackTraceElement[]) CctMemory.U.getObject(info, stackTrace);
        int[] places = new int[stack.length];
        StackTraceElement[] visible = CctTraces.visible(stack, max, own, places);
        CctMemory.U.putObject(info, stackTrace, visible);
        Object[] monitors = (Object[]) CctMemory.U.getObject(info, lockedMonitors);
        if (monitors.length != 0) {
            Object[] held = HeldMonitors.ofVisible(monitors, "stackDepth", places, "stackFrame",
                    visible);
            CctMemory.U.putObject(info, lockedMonitors, held);
        }
    }
}
