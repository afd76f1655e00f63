package cctrewrite.markers;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** A provider: the states of threads at the time of the call. */
public final class ThreadStates {
    private ThreadStates() {}

    /** The state of the marker's thread. */
    public static Thread.State of(Marker marker) {
        return marker.thread().getState();
    }

    /** Whether the marker's thread holds an object's monitor. Call it only in handlers. */
    public static boolean holds(Object monitor) {
        return Thread.holdsLock(monitor);
    }

    /** The number of threads in each state. */
    public static Map<Thread.State, Integer> all() {
        Map<Thread.State, Integer> states = new EnumMap<>(Thread.State.class);
        for (Thread thread : new HashMap<>(Thread.getAllStackTraces()).keySet()) {
            Integer before = states.get(thread.getState());
            states.put(thread.getState(), before == null ? 1 : before + 1);
        }
        return states;
    }
}
