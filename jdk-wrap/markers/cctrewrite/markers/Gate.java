package cctrewrite.markers;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Where inserted code comes in. A class's table is an object to it, which {@link #register} made of what the class says of its markers; it is {@code null}
 * as long as nothing can be told, and then nothing is but how often.
 */
public final class Gate {
    private static final AtomicLong EARLY = new AtomicLong();

    private Gate() {}

    /** Whether classes may register: once the JVM has booted. */
    public static boolean isReady() {
        return Boot.isOver();
    }

    /** What a class says of its markers, once. Its bits are set when this returns. */
    public static Object register(MethodHandles.Lookup lookup, String[] rows) {
        return MarkerTable.of(lookup, rows);
    }

    /** The table of an interface, which cannot keep it itself; {@code null} if it did not register. */
    public static Object tableOf(Class<?> owner) {
        return MarkerTable.ofInterface(owner);
    }

    /** Whether anybody is told of a marker of an interface. */
    public static boolean isOn(Object table, int index) {
        return table == null || ((MarkerTable) table).descriptors[index].clients.length > 0;
    }

    /** The thread is in a region. What this returns goes to {@link #exit}; 0 if nobody is told. */
    public static int enter(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            return early();
        }
        MarkerDescriptor descriptor = ((MarkerTable) table).descriptors[index];
        Client[] clients = descriptor.clients;
        if (clients.length == 0) {
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

    /** The same by an exception. */
    public static void thrown(int token) {
        Stacks.current().exit(token, null, true);
    }

    /** The thread is at a place. */
    public static void at(Object table, int index, Object receiver, Object[] arguments) {
        if (table == null) {
            early();
            return;
        }
        MarkerDescriptor descriptor = ((MarkerTable) table).descriptors[index];
        Client[] clients = descriptor.clients;
        if (clients.length == 0) {
            return;
        }
        MarkerStack stack = Stacks.current();
        if (stack.inClient) {
            stack.counts.ofClients++;
            return;
        }
        stack.at(descriptor, clients, receiver, arguments);
    }

    private static int early() {
        EARLY.incrementAndGet();
        return 0;
    }

    /** How often nothing could be told yet. */
    static long earlyEvents() {
        return EARLY.get();
    }
}
