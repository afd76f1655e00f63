package cctrewrite.markers;

import java.lang.invoke.DontInline;
import java.lang.invoke.ForceInline;
import java.lang.invoke.MethodHandles;

/**
 * The entry point of inserted code. Inserted code treats a class's table as an object, which
 * {@link #register} creates from the class's texts about its markers. It is {@code null} while
 * clients cannot be notified, and markers are then only counted. Inserted code also treats the
 * token of a region as an object. It is {@code null} if no client was notified at the region's
 * start.
 *
 * <p>The JVM must not inline the methods for both ends of a region. Their code is longer than that
 * of most marked methods. With inlining, C2 took half as long again to compile the marked methods,
 * and they did not run faster (docs/research/markers.md). The class's own helper tests whether
 * there is a client, and that test is inlined.
 */
public final class Gate {
    private static long early;

    private Gate() {}

    /**
     * Whether the class may register now: the JVM must have booted, and the thread must not run a
     * client's code. If so, clients get no notifications of this thread until {@link #settled} or
     * {@link #abandoned}. Even to identify itself, a class calls others that have markers.
     */
    public static boolean isReady() {
        if (!Boot.isOver()) {
            return false;
        }
        MarkerStack stack = Stacks.current();
        return stack.silence() > 0;
    }

    /** Registers a class, once. {@code rows} are its texts about its markers. */
    public static Object register(MethodHandles.Lookup lookup, String[] rows) {
        return MarkerTable.of(lookup.lookupClass(), lookup, rows);
    }

    /** Registers a class of JDK 8's own library, which gets no lookup. */
    public static Object register(Class<?> owner, String[] rows) {
        return MarkerTable.of(owner, null, rows);
    }

    /**
     * The guards of a class: one bit for each of 32 markers, set while a client is to be notified.
     * The class sets them itself, and then calls {@link #settled}.
     */
    public static int bits(Object table, int word) {
        return ((MarkerTable) table).handOut(word);
    }

    /** The class has registered and has set its guards. */
    public static void settled(Object table) {
        try {
            ((MarkerTable) table).settle();
        } finally {
            abandoned();
        }
    }

    /** The class could not register. */
    public static void abandoned() {
        MarkerStack stack = Stacks.current();
        stack.next = Math.abs(stack.next);
    }

    /**
     * The table of an interface, which cannot store it itself; {@code null} if the interface did
     * not register.
     */
    public static Object tableOf(Class<?> owner) {
        if (!Boot.isOver()) {
            return null;
        }
        MarkerStack stack = Stacks.current();
        if (stack.isSilent()) {
            return null;
        }
        // The lookup may itself reach markers.
        int before = stack.silence();
        try {
            return MarkerTable.ofInterface(owner);
        } finally {
            stack.next = before;
        }
    }

    /** Whether a client is to be notified at a marker of an interface. */
    public static boolean isOn(Object table, int index) {
        return table == null || ((MarkerTable) table).listeners[index] != null;
    }

    /**
     * The thread is at the start of a region. The result is the argument of {@link #exit}.
     *
     * <p>This method, {@link #leave} and {@link #at} contain the code of the usual case in one
     * piece: one client, which is notified, and no other work. So C2's result does not depend on
     * which callees are already compiled and too large to inline. {@link #begin} handles all cases.
     */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver) {
        if (table == null) {
            return untold();
        }
        Listeners listeners = ((MarkerTable) table).listeners[index];
        if (listeners == null) {
            return null;
        }
        Client client = listeners.straight;
        MarkerStack stack = Stacks.current();
        Marker[] frames = stack.frames;
        int at = stack.next;
        int left = stack.counts.left;
        if (client == null || at < 0 || at >= frames.length || left <= 0) {
            return begin(stack, listeners, receiver, null);
        }
        Marker marker = frames[at];
        if (marker == null) {
            return begin(stack, listeners, receiver, null);
        }
        stack.counts.left = left - 1;
        marker.listeners = listeners;
        marker.receiver = receiver;
        boolean heard = false;
        stack.next = -1 - at;
        try {
            heard = stack.enter(client, marker);
        } catch (StackOverflowError noRoom) {
            // Call nothing here: it would overflow as the handler did.
        }
        if (heard && listeners.isKept) {
            stack.next = at + 1;
            return marker;
        }
        stack.next = at;
        marker.receiver = null;
        if (!heard) {
            stack.counts.overflows++;
        }
        return null;
    }

    /** The thread is at the start of a region that passes arguments. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver, Object[] arguments) {
        return begin(table, index, receiver, arguments);
    }

    private static Object begin(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            return untold();
        }
        Listeners listeners = ((MarkerTable) table).listeners[index];
        return listeners == null ? null : begin(Stacks.current(), listeners, receiver, arguments);
    }

    private static Object begin(MarkerStack stack, Listeners listeners, Object receiver, Object[] arguments) {
        return listeners.filter != null && skips(listeners, receiver)
                ? null : stack.enter(listeners, receiver, arguments);
    }

    private static boolean skips(Listeners listeners, Object receiver) {
        try {
            return listeners.filter.skips(listeners.descriptor, receiver);
        } catch (Throwable thrown) {
            MarkerStack stack = Stacks.current();
            int before = stack.silence();
            try {
                Clients.threw(listeners.filter, thrown, stack.counts);
            } finally {
                stack.next = before;
            }
            return true;
        }
    }

    /**
     * The thread leaves a region. The test is inlined: if no client was notified, there is no call.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void exit(Object token) {
        if (token != null) {
            leave(token);
        }
    }

    /** The thread leaves the region of a constructor; now there is an object. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void exit(Object token, Object receiver) {
        if (token != null) {
            made(token, receiver);
        }
    }

    /** The thread leaves the region of a method or call that returns an object. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void returned(Object token, Object result) {
        if (token != null) {
            left(token, result);
        }
    }

    /** The thread leaves a region of a method or call that returns a boolean. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void answered(Object token, boolean result) {
        if (token != null) {
            left(token, result ? Boolean.TRUE : Boolean.FALSE);
        }
    }

    /** The thread leaves a region by an exception. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void thrown(Object token) {
        if (token != null) {
            broken(token);
        }
    }

    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static void leave(Object token) {
        Marker marker = (Marker) token;
        MarkerStack stack = marker.stack;
        Client client = marker.listeners.singleLeaving;
        int at = marker.depth;
        if (client == null || stack.next != at + 1 || marker.arguments != null) {
            stack.exit(marker, false);
            return;
        }
        stack.next = -1 - at;
        try {
            stack.exit(client, marker);
        } catch (StackOverflowError noRoom) {
            stack.counts.overflows++;
        }
        stack.next = at;
        marker.receiver = null;
    }

    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static void made(Object token, Object receiver) {
        Marker marker = (Marker) token;
        marker.stack.exit(marker, receiver);
    }

    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static void left(Object token, Object result) {
        Marker marker = (Marker) token;
        marker.stack.returned(marker, result);
    }

    @DontInline
    @jdk.internal.vm.annotation.DontInline
    private static void broken(Object token) {
        Marker marker = (Marker) token;
        marker.stack.exit(marker, true);
    }

    /** The thread is at a single location, or at the start of a region that ends at once. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static void at(Object table, int index, Object receiver) {
        if (table == null) {
            untold();
            return;
        }
        Listeners listeners = ((MarkerTable) table).listeners[index];
        if (listeners == null) {
            return;
        }
        Client client = listeners.straight;
        MarkerStack stack = Stacks.current();
        Marker[] frames = stack.frames;
        int at = stack.next;
        int left = stack.counts.left;
        if (client == null || at < 0 || at >= frames.length || left <= 0) {
            at(stack, listeners, receiver, null);
            return;
        }
        Marker marker = frames[at];
        if (marker == null) {
            at(stack, listeners, receiver, null);
            return;
        }
        stack.counts.left = left - 1;
        marker.listeners = listeners;
        marker.receiver = receiver;
        boolean heard = false;
        stack.next = -1 - at;
        try {
            heard = stack.enter(client, marker);
            if (heard && listeners.isInstant) {
                stack.exit(client, marker);
            }
        } catch (StackOverflowError noRoom) {
            stack.counts.overflows += heard ? 1 : 0;
        }
        stack.next = at;
        marker.receiver = null;
        if (!heard) {
            stack.counts.overflows++;
        }
    }

    private static void at(MarkerStack stack, Listeners listeners, Object receiver, Object[] arguments) {
        if (listeners.filter == null || !skips(listeners, receiver)) {
            stack.at(listeners, receiver, arguments);
        }
    }

    /** The thread is at a single location that passes arguments. */
    public static void at(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            untold();
            return;
        }
        Listeners listeners = ((MarkerTable) table).listeners[index];
        if (listeners != null) {
            at(Stacks.current(), listeners, receiver, arguments);
        }
    }

    /**
     * {@link #enter} in a program that is also counted: {@code context} is the thread's position in
     * its tree.
     */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver, Object[] arguments,
            long context) {
        if (table != null) {
            Stacks.current().context = context;
        }
        return begin(table, index, receiver, arguments);
    }

    /** {@link #at} in a program that is also counted. */
    public static void at(Object table, int index, Object receiver, Object[] arguments,
            long context) {
        if (table != null) {
            Stacks.current().context = context;
        }
        at(table, index, receiver, arguments);
    }

    /**
     * Counts a marker that a thread in bypass has reached. The thread's stack, which may be null,
     * shows whether a client caused it.
     */
    public static void passed(Object stack) {
        if (stack != null && ((MarkerStack) stack).isSilent()) {
            ((MarkerStack) stack).counts.ofClients++;
        }
    }

    /** The launcher is about to load the program. */
    public static void launched() {
        Boot.launched();
    }

    /**
     * The JVM is about to be halted, with a marked class library: shutdown hooks may not have run.
     */
    public static void halting() {
        if (Boot.isOver()) {
            End.halting();
        }
    }

    /**
     * Counts a marker without a table: the JVM has not booted yet, or a client was the first to
     * reach the class, which then registers later.
     */
    private static Object untold() {
        if (Boot.isOver()) {
            Stacks.current().counts.ofClients++;
        } else {
            countEarly();
        }
        return null;
    }

    private static synchronized void countEarly() {
        early++;
    }

    /** The number of markers that were reached too early for a notification. */
    static synchronized long earlyEvents() {
        return early;
    }
}
