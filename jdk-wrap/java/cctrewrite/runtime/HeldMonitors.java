package cctrewrite.runtime;

import java.util.Arrays;

/** Monitors and the frames that hold them. In bypass. */
final class HeldMonitors {
    private HeldMonitors() {}

    /**
     * The monitors that visible frames hold, with these frames' numbers among the visible ones. The
     * forwarder of a synchronized method also holds the monitor, and is hidden.
     *
     * @param monitors a new array from the VM, which no other code has seen
     * @param depth the name of the field with the frame's number; it is negative for monitors that
     *     no frame holds
     * @param places each frame's number among the visible ones, or -1
     * @param frame the name of the field with the frame, if the class has one
     * @param visible the visible frames
     * @return an array of the same type
     */
    static Object[] ofVisible(Object[] monitors, String depth, int[] places, String frame,
            StackTraceElement[] visible) {
        Object[] kept = Arrays.copyOf(monitors, monitors.length);
        int count = 0;
        for (int i = 0; i < monitors.length; i++) {
            Object monitor = monitors[i];
            long offset = Offsets.of(monitor.getClass(), depth);
            int from = CctMemory.U.getInt(monitor, offset);
            int place = from < 0 ? from : places[from];
            if (from < 0 || place >= 0) {
                CctMemory.U.putInt(monitor, offset, place);
                if (frame != null && place >= 0) {
                    CctMemory.U.putObject(monitor, Offsets.of(monitor.getClass(), frame),
                            visible[place]);
                }
                kept[count++] = monitor;
            }
        }
        return count == kept.length ? kept : Arrays.copyOf(kept, count);
    }
}
