package cctrewrite.runtime;

import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;

/** What {@code ThreadMXBean} tells of stacks and of the monitors that their frames hold. In bypass; on JDK 8. */
public final class ThreadInfos {
    private static final long STACK = Offsets.of(ThreadInfo.class, "stackTrace");
    private static final long MONITORS = Offsets.of(ThreadInfo.class, "lockedMonitors");

    private ThreadInfos() {}

    /** Leaves out hidden frames, and what is deeper than {@code max} unless that is negative. */
    public static void hide(ThreadInfo[] infos, int max, boolean own) {
        for (int i = 0; infos != null && i < infos.length; i++) {
            if (infos[i] != null) {
                hide(infos[i], max < 0 ? Integer.MAX_VALUE : max, own);
            }
        }
    }

    private static void hide(ThreadInfo info, int max, boolean own) {
        StackTraceElement[] stack = (StackTraceElement[]) CctMemory.U.getObject(info, STACK);
        MonitorInfo[] monitors = (MonitorInfo[]) CctMemory.U.getObject(info, MONITORS);
        int[] places = new int[stack.length];
        StackTraceElement[] visible = CctTraces.visible(stack, max, own, places);
        MonitorInfo[] kept = new MonitorInfo[monitors.length];
        int count = 0;
        for (int i = 0; i < monitors.length; i++) {
            MonitorInfo m = monitors[i];
            int depth = m.getLockedStackDepth();
            if (depth < 0) {
                // Held by no frame, but from a native.
                kept[count++] = m;
            } else if (places[depth] >= 0) {
                // A synchronized method's forwarder holds the monitor, too, and is hidden.
                int place = places[depth];
                kept[count++] = new MonitorInfo(m.getClassName(), m.getIdentityHashCode(), place, visible[place]);
            }
        }
        CctMemory.U.putObject(info, STACK, visible);
        if (monitors.length != 0) {
            MonitorInfo[] shorter = new MonitorInfo[count];
            System.arraycopy(kept, 0, shorter, 0, count);
            CctMemory.U.putObject(info, MONITORS, shorter);
        }
    }
}
