package cctrewrite.markers;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** A provider: what threads are doing, at the time of asking. */
public final class ThreadStates {
    private ThreadStates() {}

    /** The state of the marker's thread. */
    public static Thread.State of(Marker marker) {
        return marker.thread().getState();
    }

    /** Whether the marker's thread holds an object's monitor. Only in handlers. */
    public static boolean holds(Object monitor) {
        return Thread.holdsLock(monitor);
    }

    /** How many threads are in which state. */
    public static Map<Thread.State, Integer> all() {
        Map<Thread.State, Integer> states = new EnumMap<>(Thread.State.class);
        for (Thread thread : new HashMap<>(Thread.getAllStackTraces()).keySet()) {
            Integer before = states.get(thread.getState());
            states.put(thread.getState(), before == null ? 1 : before + 1);
        }
        return states;
    }
}
