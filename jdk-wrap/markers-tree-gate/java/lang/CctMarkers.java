package java.lang;

import cctrewrite.markers.Gate;
import java.util.ArrayList;

/**
 * The entry point of marked classes of a program that is also counted (docs/research/markers.md).
 * Classes call it through helpers of {@code java.lang.Object}, as all inserted code does. The
 * client's work is not the program's, so it runs in bypass, and clients are not notified there.
 * When a method returns, the thread's field is as it was before.
 *
 * <p>The rules of {@link CctRuntime} hold here. Until the JVM has reached the program, the code
 * uses no other class, and outside bypass it calls no code of the library.
 */
public final class CctMarkers {
    /**
     * The number of markers reached before that time. An increment may be lost if threads count at
     * once.
     */
    private static long early;

    private CctMarkers() {}

    /** Whether the JVM has reached the program. */
    public static boolean isOver() {
        return CctRuntime.hasLaunched();
    }

    public static long early() {
        return early;
    }

    /** The marker stack of a thread. */
    public static Object stack(Thread thread) {
        return thread.cct$stack;
    }

    /** Gives a thread its marker stack. */
    public static void setStack(Thread thread, Object stack) {
        thread.cct$stack = stack;
    }

    /** As {@link CctPin#pin}. */
    public static boolean pin() {
        return CctPin.pin();
    }

    /** As {@link CctPin#unpin}. */
    public static void unpin(boolean pinned) {
        CctPin.unpin(pinned);
    }

    // ---- a class registers ----------------------------------------------------------------------

    public static boolean markerReady() {
        if (!CctRuntime.hasLaunched()) {
            return false;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        if (context == CctRuntime.BYPASS) {
            return false;
        }
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Gate.isReady();
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Adds one of the texts by which a class describes its markers. (An array of texts would be an
     * array of a class that the class's loader may not have loaded yet.)
     */
    @SuppressWarnings("unchecked")
    public static Object markerRow(Object rows, Object text) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ArrayList<String> list = rows == null
                    ? new ArrayList<String>() : (ArrayList<String>) rows;
            list.add((String) text);
            return list;
        } finally {
            thread.cct$context = context;
        }
    }

    @SuppressWarnings("unchecked")
    public static Object markerRegister(Object rows, Object owner) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Gate.register((Class<?>) owner, ((ArrayList<String>) rows)
                    .toArray(new String[0]));
        } finally {
            thread.cct$context = context;
        }
    }

    public static int markerBits(Object table, int word) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Gate.bits(table, word);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerSettled(Object table) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.settled(table);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerAbandoned() {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.abandoned();
        } finally {
            thread.cct$context = context;
        }
    }

    public static Object markerTable(Object owner) {
        if (!CctRuntime.hasLaunched()) {
            return null;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        if (context == CctRuntime.BYPASS) {
            return null;
        }
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Gate.tableOf((Class<?>) owner);
        } finally {
            thread.cct$context = context;
        }
    }

    public static boolean markerIsOn(Object table, int index) {
        return table == null || Gate.isOn(table, index);
    }

    // ---- a thread is at a marker ----------------------------------------------------------------

    /**
     * A thread is at the start of a region. {@code slot} is the address of the node's first
     * call-site slot, or the address that it would have.
     */
    public static Object markerEnter(Object table, int index, Object receiver, Object arguments,
            long slot) {
        if (!CctRuntime.hasLaunched()) {
            tooEarly();
            return null;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        if (context == CctRuntime.BYPASS) {
            Gate.passed(thread.cct$stack);
            return null;
        }
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Gate.enter(table, index, receiver, (Object[]) arguments, slot);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerAt(Object table, int index, Object receiver, Object arguments,
            long slot) {
        if (!CctRuntime.hasLaunched()) {
            tooEarly();
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        if (context == CctRuntime.BYPASS) {
            Gate.passed(thread.cct$stack);
            return;
        }
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.at(table, index, receiver, (Object[]) arguments, slot);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerExit(Object token) {
        if (token == null) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.exit(token);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerMade(Object token, Object receiver) {
        if (token == null) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.exit(token, receiver);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerReturned(Object token, Object result) {
        if (token == null) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.returned(token, result);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerAnswered(Object token, boolean result) {
        if (token == null) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.answered(token, result);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerThrown(Object token) {
        if (token == null) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Gate.thrown(token);
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Counts a marker reached too early. The profiler's own code does not count. Before the JVM has
     * booted there may be no current thread (JDK 25).
     */
    private static void tooEarly() {
        if (!CctRuntime.booted() || Thread.currentThread().cct$context != CctRuntime.BYPASS) {
            early++;
        }
    }

    // ---- arguments of a marker ------------------------------------------------------------------

    public static Object markerArray(int length) {
        return new Object[length];
    }

    public static void markerPut(Object array, int at, Object value) {
        ((Object[]) array)[at] = value;
    }

    public static void markerPut(Object array, int at, boolean value) {
        ((Object[]) array)[at] = value ? Boolean.TRUE : Boolean.FALSE;
    }

    public static void markerPut(Object array, int at, byte value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Byte.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerPut(Object array, int at, char value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Character.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerPut(Object array, int at, short value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Short.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerPut(Object array, int at, int value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Integer.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerPut(Object array, int at, long value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Long.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerPut(Object array, int at, float value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Float.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }

    public static void markerPut(Object array, int at, double value) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            ((Object[]) array)[at] = Double.valueOf(value);
        } finally {
            thread.cct$context = context;
        }
    }
}
