package cctrewrite.markers;

import java.lang.invoke.DontInline;
import java.lang.invoke.ForceInline;
import java.lang.invoke.MethodHandles;

/**
 * Where inserted code comes in. A class's table is an object to it, which {@link #register} made of
 * what the class says of its markers; it is {@code null} as long as nothing can be told, and then
 * nothing is but how often. So is the token of a region, which is {@code null} if nobody was told
 * of it.
 *
 * <p>Both ends of a region are called, and not inlined: what they do is more than most methods that
 * they stand in, and C2 took half as long again over these with it in them, while they were no
 * faster (docs/research/markers.md). Whether anybody hears the class's own helper asks, which is
 * inlined.
 */
public final class Gate {
    private static long early;

    private Gate() {}

    /**
     * Whether the class may register now: once the JVM has booted, and not on a client's way. If
     * so, what comes until it is {@link #settled}, or {@link #abandoned}, is not told: already to
     * say who it is, a class calls others that have markers.
     */
    public static boolean isReady() {
        if (!Boot.isOver()) {
            return false;
        }
        MarkerStack stack = Stacks.current();
        return stack.silence() > 0;
    }

    /** What a class says of its markers, once. */
    public static Object register(MethodHandles.Lookup lookup, String[] rows) {
        return MarkerTable.of(lookup.lookupClass(), lookup, rows);
    }

    /** The same of a class of JDK 8's own library, which gets no lookup. */
    public static Object register(Class<?> owner, String[] rows) {
        return MarkerTable.of(owner, null, rows);
    }

    /**
     * What the class's guards are to be: a bit for each of 32 markers, on while somebody is told.
     * It sets them itself, and says so.
     */
    public static int bits(Object table, int word) {
        return ((MarkerTable) table).handOut(word);
    }

    /** The class has registered. */
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
     * The table of an interface, which cannot keep it itself; {@code null} if it did not register.
     */
    public static Object tableOf(Class<?> owner) {
        if (!Boot.isOver()) {
            return null;
        }
        MarkerStack stack = Stacks.current();
        if (stack.isSilent()) {
            return null;
        }
        // Looking it up may come to markers itself.
        int before = stack.silence();
        try {
            return MarkerTable.ofInterface(owner);
        } finally {
            stack.next = before;
        }
    }

    /** Whether anybody is told of a marker of an interface. */
    public static boolean isOn(Object table, int index) {
        return table == null || ((MarkerTable) table).told[index] != null;
    }

    /**
     * The thread is in a region. What this returns goes to {@link #exit}.
     *
     * <p>Here and in {@link #leave} and {@link #at} what is usual is written down in one piece: one
     * client, which is told and nothing more. What C2 makes of it does not depend on which methods
     * it finds compiled already, and too large to take in. {@link #begin} does all of it.
     */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver) {
        if (table == null) {
            return untold();
        }
        Told told = ((MarkerTable) table).told[index];
        if (told == null) {
            return null;
        }
        Client client = told.straight;
        MarkerStack stack = Stacks.current();
        Marker[] frames = stack.frames;
        int at = stack.next;
        int left = stack.counts.left;
        if (client == null || at < 0 || at >= frames.length || left <= 0) {
            return begin(stack, told, receiver, null);
        }
        Marker marker = frames[at];
        if (marker == null) {
            return begin(stack, told, receiver, null);
        }
        stack.counts.left = left - 1;
        marker.told = told;
        marker.receiver = receiver;
        boolean heard = false;
        stack.next = -1 - at;
        try {
            heard = stack.enter(client, marker);
        } catch (StackOverflowError noRoom) {
            // Nothing is called here, which would end as the handler did.
        }
        if (heard && told.isKept) {
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

    /** The same with arguments. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver, Object[] arguments) {
        return begin(table, index, receiver, arguments);
    }

    private static Object begin(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            return untold();
        }
        Told told = ((MarkerTable) table).told[index];
        return told == null ? null : begin(Stacks.current(), told, receiver, arguments);
    }

    private static Object begin(MarkerStack stack, Told told, Object receiver, Object[] arguments) {
        return told.filter != null && passesBy(told, receiver)
                ? null : stack.enter(told, receiver, arguments);
    }

    private static boolean passesBy(Told told, Object receiver) {
        try {
            return told.filter.passesBy(told.descriptor, receiver);
        } catch (Throwable thrown) {
            MarkerStack stack = Stacks.current();
            int before = stack.silence();
            try {
                Clients.threw(told.filter, thrown, stack.counts);
            } finally {
                stack.next = before;
            }
            return true;
        }
    }

    /**
     * The thread leaves a region. The question is inlined: where nobody was told there is nothing
     * to be called.
     */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void exit(Object token) {
        if (token != null) {
            leave(token);
        }
    }

    /** The same, of a constructor, where there is an object now. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void exit(Object token, Object receiver) {
        if (token != null) {
            made(token, receiver);
        }
    }

    /** The same, of a method or call that returns an object. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void returned(Object token, Object result) {
        if (token != null) {
            left(token, result);
        }
    }

    /** The same, of a method or call that returns a boolean. */
    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    public static void answered(Object token, boolean result) {
        if (token != null) {
            left(token, result ? Boolean.TRUE : Boolean.FALSE);
        }
    }

    /** The same by an exception. */
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
        Client client = marker.told.singleLeaving;
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

    /** The thread is at a place, or in a region that ends where it begins. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static void at(Object table, int index, Object receiver) {
        if (table == null) {
            untold();
            return;
        }
        Told told = ((MarkerTable) table).told[index];
        if (told == null) {
            return;
        }
        Client client = told.straight;
        MarkerStack stack = Stacks.current();
        Marker[] frames = stack.frames;
        int at = stack.next;
        int left = stack.counts.left;
        if (client == null || at < 0 || at >= frames.length || left <= 0) {
            at(stack, told, receiver, null);
            return;
        }
        Marker marker = frames[at];
        if (marker == null) {
            at(stack, told, receiver, null);
            return;
        }
        stack.counts.left = left - 1;
        marker.told = told;
        marker.receiver = receiver;
        boolean heard = false;
        stack.next = -1 - at;
        try {
            heard = stack.enter(client, marker);
            if (heard && told.isInstant) {
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

    private static void at(MarkerStack stack, Told told, Object receiver, Object[] arguments) {
        if (told.filter == null || !passesBy(told, receiver)) {
            stack.at(told, receiver, arguments);
        }
    }

    /** The same with arguments. */
    public static void at(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            untold();
            return;
        }
        Told told = ((MarkerTable) table).told[index];
        if (told != null) {
            at(Stacks.current(), told, receiver, arguments);
        }
    }

    /** {@link #enter} where the program is counted, too: with where the thread is in its tree. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver, Object[] arguments,
            long context) {
        if (table != null) {
            Stacks.current().context = context;
        }
        return begin(table, index, receiver, arguments);
    }

    /** The same of {@link #at}. */
    public static void at(Object table, int index, Object receiver, Object[] arguments,
            long context) {
        if (table != null) {
            Stacks.current().context = context;
        }
        at(table, index, receiver, arguments);
    }

    /**
     * A thread that hears nothing has come to a marker: whether a client has brought it there its
     * stack says, which may be null.
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

    /** The JVM is about to be halted, in a class library: hooks may not have run. */
    public static void halting() {
        if (Boot.isOver()) {
            End.halting();
        }
    }

    /**
     * There is no table: it is too early, or a client is the first to come to the class, which then
     * registers later.
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

    /** How often nothing could be told yet. */
    static synchronized long earlyEvents() {
        return early;
    }
}
