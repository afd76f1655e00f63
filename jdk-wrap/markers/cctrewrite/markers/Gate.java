package cctrewrite.markers;

import java.lang.invoke.MethodHandles;

/**
 * Where inserted code comes in. A class's table is an object to it, which {@link #register} made of what the class says of its markers; it is {@code null}
 * as long as nothing can be told, and then nothing is but how often.
 */
public final class Gate {
    private static long early;

    private Gate() {}

    /**
     * Whether the class may register now: once the JVM has booted, and not on a client's way. If so, what comes until {@link #register} is over, or {@link #abandoned}, is
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

    /** What a class says of its markers, once. Its bits are set when this returns. */
    public static Object register(MethodHandles.Lookup lookup, String[] rows) {
        try {
            return MarkerTable.of(lookup.lookupClass(), lookup, rows);
        } finally {
            abandoned();
        }
    }

    /** The same of a class of JDK 8's own library, which gets no lookup. */
    public static Object register(Class<?> owner, String[] rows) {
        try {
            return MarkerTable.of(owner, null, rows);
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
        return table == null || ((MarkerTable) table).descriptors[index].clients.length > 0;
    }

    /** The thread is in a region. What this returns goes to {@link #exit}; 0 if nobody is told. */
    public static int enter(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            return untold();
        }
        MarkerDescriptor descriptor = ((MarkerTable) table).descriptors[index];
        Client[] clients = descriptor.clients;
        if (clients.length == 0) {
            return 0;
        }
        Client filter = descriptor.filter;
        if (filter != null && filter.passesBy(descriptor, receiver)) {
            return 0;
        }
        MarkerStack stack = Stacks.current();
        if (stack.inClient) {
            stack.counts.ofClients++;
            return 0;
        }
        return stack.enter(descriptor, clients, receiver, arguments);
    }

    /** The thread leaves a region. */
    public static void exit(int token) {
        Stacks.current().exit(token, null, false);
    }

    /** The same, of a constructor, where there is an object now. */
    public static void exit(int token, Object receiver) {
        Stacks.current().exit(token, receiver, false);
    }

    /** The same, of a method or call that returns an object. */
    public static void returned(int token, Object result) {
        MarkerStack stack = Stacks.current();
        stack.returned(token, result);
        stack.exit(token, null, false);
    }

    /** The same by an exception. */
    public static void thrown(int token) {
        Stacks.current().exit(token, null, true);
    }

    /** The thread is at a place. */
    public static void at(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            untold();
            return;
        }
        MarkerDescriptor descriptor = ((MarkerTable) table).descriptors[index];
        Client[] clients = descriptor.clients;
        if (clients.length == 0) {
            return;
        }
        Client filter = descriptor.filter;
        if (filter != null && filter.passesBy(descriptor, receiver)) {
            return;
        }
        MarkerStack stack = Stacks.current();
        if (stack.inClient) {
            stack.counts.ofClients++;
            return;
        }
        stack.at(descriptor, clients, receiver, arguments);
    }

    /** The launcher is about to load the program. */
    public static void launched() {
        Boot.launched();
    }

    /** There is no table: it is too early, or a client is the first to come to the class, which then registers later. */
    private static int untold() {
        if (Boot.isOver()) {
            Stacks.current().counts.ofClients++;
        } else {
            countEarly();
        }
        return 0;
    }

    private static synchronized void countEarly() {
        early++;
    }

    /** How often nothing could be told yet. */
    static synchronized long earlyEvents() {
        return early;
    }
}
