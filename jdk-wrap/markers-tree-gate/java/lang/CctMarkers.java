package java.lang;

import cctrewrite.markers.Gate;
import java.util.ArrayList;

/**
 * Where marked classes come in of a program that is counted, too (docs/research/markers.md): by
 * helpers of {@code java.lang.Object}, as all code that rewriting inserts. What clients do is none
 * of the program's: it runs in bypass, and there nothing is told. A thread's field is what it was
 * when this returns.
 *
 * <p>The rules of {@link CctRuntime} hold here: until the JVM has come to the program no other
 * class is touched, and outside bypass no code of the library.
 */
public final class CctMarkers {
    /** How often something was come to before; threads that count at once may lose one. */
    private static long early;

    private CctMarkers() {}

    /** Whether the JVM has come to the program. */
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

    /** See {@link CctPin#pin}. */
    public static boolean pin() {
        return CctPin.pin();
    }

    /** See {@link CctPin#unpin}. */
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
     * One more text of those that the class has to say. In one array they would be an array of a
     * class that its loader has perhaps not been asked for.
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

    /** {@code slot} is where the first call site's slot of the thread's node is, or would be. */
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
     * What the profiler does then is nobody's. Before the JVM has booted there may be no thread to
     * be asked (JDK 25).
     */
    private static void tooEarly() {
        if (!CctRuntime.booted() || Thread.currentThread().cct$context != CctRuntime.BYPASS) {
            early++;
        }
    }

    // ---- arguments that a marker hands over -----------------------------------------------------

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
