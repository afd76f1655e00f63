package cctrewrite.markers;

import java.lang.invoke.DontInline;
import java.lang.invoke.MethodHandles;

/**
 * Where inserted code comes in. A class's table is an object to it, which {@link #register} made of what the class says of its markers; it is {@code null}
 * as long as nothing can be told, and then nothing is but how often. So is the token of a region, which is {@code null} if nobody was told of it.
 *
 * <p>Both ends of a region are called, and not inlined: what they do is more than most methods that they stand in, and C2 took half as long again over these with it
 * in them, while they were no faster (docs/markers.md). Whether anybody hears the class's own helper asks, which is inlined.
 */
public final class Gate {
    private static long early;

    private Gate() {}

    /**
     * Whether the class may register now: once the JVM has booted, and not on a client's way. If so, what comes until it is {@link #settled}, or {@link #abandoned}, is
     * not told: already to say who it is, a class calls others that have markers.
     */
    public static boolean isReady() {
        if (!Boot.isOver()) {
            return false;
        }
        MarkerStack stack = Stacks.current();
        if (stack.inClient) {
            return false;
        }
        stack.inClient = true;
        return true;
    }

    /** What a class says of its markers, once. */
    public static Object register(MethodHandles.Lookup lookup, String[] rows) {
        return MarkerTable.of(lookup.lookupClass(), lookup, rows);
    }

    /** The same of a class of JDK 8's own library, which gets no lookup. */
    public static Object register(Class<?> owner, String[] rows) {
        return MarkerTable.of(owner, null, rows);
    }

    /** What the class's guards are to be: a bit for each of 32 markers, on while somebody is told. It sets them itself, and says so. */
    public static int bits(Object table, int word) {
        return ((MarkerTable) table).handOut(word, false);
    }

    /** The same of regions whose exits are told. */
    public static int regions(Object table, int word) {
        return ((MarkerTable) table).handOut(word, true);
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
        Stacks.current().inClient = false;
    }

    /** The table of an interface, which cannot keep it itself; {@code null} if it did not register. */
    public static Object tableOf(Class<?> owner) {
        if (!Boot.isOver()) {
            return null;
        }
        MarkerStack stack = Stacks.current();
        if (stack.inClient) {
            return null;
        }
        // Looking it up may come to markers itself.
        stack.inClient = true;
        try {
            return MarkerTable.ofInterface(owner);
        } finally {
            stack.inClient = false;
        }
    }

    /** Whether anybody is told of a marker of an interface. */
    public static boolean isOn(Object table, int index) {
        return table == null || ((MarkerTable) table).told[index] != null;
    }

    /** The thread is in a region. What this returns goes to {@link #exit}. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver) {
        return begin(table, index, receiver, null);
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
        if (told == null || told.filter != null && passesBy(told, receiver)) {
            return null;
        }
        return Stacks.current().enter(told, receiver, arguments);
    }

    private static boolean passesBy(Told told, Object receiver) {
        try {
            return told.filter.passesBy(told.descriptor, receiver);
        } catch (Throwable thrown) {
            MarkerStack stack = Stacks.current();
            boolean nested = stack.inClient;
            stack.inClient = true;
            try {
                Clients.threw(told.filter, thrown, stack.counts);
            } finally {
                stack.inClient = nested;
            }
            return true;
        }
    }

    /** The thread leaves a region. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static void exit(Object token) {
        if (token != null) {
            Marker marker = (Marker) token;
            marker.stack.exit(marker, false);
        }
    }

    /** The same, of a constructor, where there is an object now. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static void exit(Object token, Object receiver) {
        if (token != null) {
            Marker marker = (Marker) token;
            marker.stack.exit(marker, receiver);
        }
    }

    /** The same, of a method or call that returns an object. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static void returned(Object token, Object result) {
        if (token != null) {
            Marker marker = (Marker) token;
            marker.stack.returned(marker, result);
        }
    }

    /** The same by an exception. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static void thrown(Object token) {
        if (token != null) {
            Marker marker = (Marker) token;
            marker.stack.exit(marker, true);
        }
    }

    /** The thread is at a place, or in a region that ends where it begins. */
    public static void at(Object table, int index, Object receiver) {
        at(table, index, receiver, null);
    }

    /** The same with arguments. */
    public static void at(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            untold();
            return;
        }
        Told told = ((MarkerTable) table).told[index];
        if (told == null || told.filter != null && passesBy(told, receiver)) {
            return;
        }
        Stacks.current().at(told, receiver, arguments);
    }

    /** {@link #enter} where the program is counted, too: with where the thread is in its tree. */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static Object enter(Object table, int index, Object receiver, Object[] arguments, long context) {
        if (table != null) {
            Stacks.current().context = context;
        }
        return begin(table, index, receiver, arguments);
    }

    /** The same of {@link #at}. */
    public static void at(Object table, int index, Object receiver, Object[] arguments, long context) {
        if (table != null) {
            Stacks.current().context = context;
        }
        at(table, index, receiver, arguments);
    }

    /** A thread that hears nothing has come to a marker: whether a client has brought it there its stack says, which may be null. */
    public static void passed(Object stack) {
        if (stack != null && ((MarkerStack) stack).inClient) {
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

    /** There is no table: it is too early, or a client is the first to come to the class, which then registers later. */
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
