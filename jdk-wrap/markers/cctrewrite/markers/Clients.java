package cctrewrite.markers;

import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The clients, and which of them are notified at which marker. */
final class Clients {
    /**
     * The lock for all changes here. Handlers never run under it; only {@link Client#subscribe} and
     * {@link Client#register} do.
     */
    static final Object LOCK = new Object();

    private static final List<Client> ALL = new ArrayList<>();
    private static final List<WeakReference<MarkerTable>> TABLES = new ArrayList<>();
    /** Tokens that were disabled or enabled, for classes that have not registered yet. */
    private static final Map<String, Boolean> SWITCHED = new HashMap<>();
    /** Clients that threw, with the exception. */
    private static final Map<Client, Throwable> FAILED = new IdentityHashMap<>();

    /** Errors of clients that could not be loaded. */
    private static final List<String> MISSING = new ArrayList<>();
    /** The client that checks properties. */
    private static final String CHECKER = "cctrewrite.typestate.Typestate";

    /** The tables whose guards must be set when no thread holds the lock any more. */
    private static final Set<MarkerTable> STALE = new LinkedHashSet<>();

    /**
     * Whether any client has thrown. A thread that reads it late notifies such a client once more.
     */
    private static boolean someFailed;
    private static boolean loaded;
    private static int numbers;

    private Clients() {}

    /** Reserves {@code count} numbers for markers. */
    static int numbers(int count) {
        numbers += count;
        return numbers - count;
    }

    /** Loads the clients that the command line names, once. */
    static void load() {
        if (loaded) {
            return;
        }
        loaded = true;
        End.prepare();
        Control.start();
        for (String token : Control.words("markers.off")) {
            SWITCHED.put(token, false);
        }
        Set<String> names = new LinkedHashSet<>(Control.words("markers.clients"));
        if (Image.tables() != null) {
            // The rules belong to properties.
            names.add(CHECKER);
        }
        if (Counts.ALL) {
            add(new Counting());
        }
        if (names.isEmpty()) {
            return;
        }
        ClassLoader loader = ClientLoader.of(Options.get("markers.client-path"));
        for (String name : names) {
            try {
                Class<?> client = Class.forName(name, true, loader);
                add((Client) client.getDeclaredConstructor().newInstance());
            } catch (ReflectiveOperationException | ClassCastException | LinkageError problem) {
                Throwable cause = problem instanceof InvocationTargetException
                        ? problem.getCause() : problem;
                MISSING.add("client " + name + " cannot be loaded (" + cause
                        + "); -Dcctrewrite.markers.clients names public classes on the class path "
                        + "that implement"
                        + " cctrewrite.markers.Client and have a public constructor without "
                        + "arguments");
            }
        }
        for (String missing : MISSING) {
            System.err.println("cctrewrite: markers: " + missing);
        }
    }

    /** Loads the clients before any class has reached a marker. */
    static void begin() {
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        try {
            synchronized (LOCK) {
                load();
            }
            refresh();
        } finally {
            stack.next = before;
        }
    }

    /** Adds a client, and asks it about all known markers. */
    static void add(Client client) {
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        List<MarkerTable> tables;
        try {
            synchronized (LOCK) {
                load();
                client.register();
                ALL.add(client);
                tables = tables();
                for (MarkerTable table : tables) {
                    ask(client, table);
                }
            }
            refresh(tables);
            refresh();
        } finally {
            stack.next = before;
        }
    }

    /** Asks all clients about a new table. */
    static void subscribe(MarkerTable table) {
        TABLES.add(new WeakReference<>(table));
        for (Client client : new ArrayList<>(ALL)) {
            ask(client, table);
        }
    }

    /** Whether a marker is enabled when its class registers. */
    static boolean isEnabled(String token) {
        return SWITCHED.getOrDefault(token, true);
    }

    private static void ask(Client client, MarkerTable table) {
        try {
            for (MethodDescriptor method : table.methods()) {
                client.methodLoaded(method);
            }
            for (MarkerDescriptor descriptor : table.descriptors()) {
                if (client.subscribe(descriptor)) {
                    Subscriber[] old = descriptor.subscribers;
                    Subscriber[] all = Arrays.copyOf(old, old.length + 1);
                    all[old.length] = new Subscriber(client, descriptor);
                    descriptor.subscribers = all;
                    updateListeners(descriptor);
                }
            }
        } catch (Throwable thrown) {
            threw(client, thrown, null);
        }
    }

    private static void updateListeners(MarkerDescriptor descriptor) {
        Subscriber[] all = descriptor.enabled ? descriptor.subscribers : MarkerDescriptor.NOBODY;
        descriptor.table.listeners[descriptor.index] = all.length == 0
                ? null : new Listeners(descriptor, all);
    }

    /** Enables or disables notifications at one marker. */
    static void enable(MarkerDescriptor descriptor, boolean enabled) {
        synchronized (LOCK) {
            descriptor.enabled = enabled;
            updateListeners(descriptor);
        }
        refresh(Collections.singleton(descriptor.table));
    }

    /**
     * Enables or disables notifications at all markers with a token, also in classes that register
     * later. Returns the number of markers found.
     */
    static int enable(String token, boolean enabled) {
        int found = 0;
        Set<MarkerTable> changed = new LinkedHashSet<>();
        synchronized (LOCK) {
            SWITCHED.put(token, enabled);
            for (MarkerTable table : tables()) {
                for (MarkerDescriptor descriptor : table.descriptors()) {
                    if (descriptor.token().equals(token)) {
                        descriptor.enabled = enabled;
                        updateListeners(descriptor);
                        changed.add(table);
                        found++;
                    }
                }
            }
        }
        refresh(changed);
        return found;
    }

    /** The tables of classes that are still loaded. */
    static List<MarkerTable> tables() {
        synchronized (LOCK) {
            List<MarkerTable> tables = new ArrayList<>(TABLES.size());
            for (WeakReference<MarkerTable> reference : TABLES) {
                MarkerTable table = reference.get();
                if (table != null) {
                    tables.add(table);
                }
            }
            return tables;
        }
    }

    static List<Client> all() {
        synchronized (LOCK) {
            return new ArrayList<>(ALL);
        }
    }

    /** Errors of clients that could not be loaded. */
    static List<String> missing() {
        synchronized (LOCK) {
            return new ArrayList<>(MISSING);
        }
    }

    static Map<Client, Throwable> failed() {
        synchronized (LOCK) {
            return new IdentityHashMap<>(FAILED);
        }
    }

    /** The number of known markers. */
    static int known() {
        synchronized (LOCK) {
            return numbers;
        }
    }

    /** Whether the client still gets notifications. */
    static boolean listens(Client client) {
        return !someFailed || !hasFailed(client);
    }

    private static boolean hasFailed(Client client) {
        synchronized (LOCK) {
            return FAILED.containsKey(client);
        }
    }

    /**
     * Handles an exception of a client. The client gets no more notifications, unless the exception
     * only shows that the program had left no stack for the client.
     */
    static void threw(Client client, Throwable thrown, Counts counts) {
        if (thrown instanceof StackOverflowError && counts != null) {
            counts.overflows++;
            return;
        }
        List<MarkerTable> tables;
        synchronized (LOCK) {
            if (FAILED.putIfAbsent(client, thrown) != null) {
                return;
            }
            someFailed = true;
            ALL.remove(client);
            tables = tables();
            for (MarkerTable table : tables) {
                for (MarkerDescriptor descriptor : table.descriptors()) {
                    descriptor.subscribers = without(descriptor.subscribers, client);
                    updateListeners(descriptor);
                }
            }
        }
        refresh(tables);
    }

    private static Subscriber[] without(Subscriber[] subscribers, Client client) {
        List<Subscriber> others = new ArrayList<>();
        for (Subscriber other : subscribers) {
            if (other.client != client) {
                others.add(other);
            }
        }
        return others.size() < subscribers.length ? others.toArray(new Subscriber[0]) : subscribers;
    }

    /**
     * Sets the guards by the present notifications. A thread that sets the guards of a class waits
     * if another thread initialises that class. The other thread may be waiting for the lock. So a
     * thread that holds the lock leaves this work to {@link #refresh()}. It holds the lock if a
     * client asked for this, or threw, while it subscribed.
     */
    private static void refresh(Collection<MarkerTable> tables) {
        if (Thread.holdsLock(LOCK)) {
            STALE.addAll(tables);
            return;
        }
        for (MarkerTable table : tables) {
            table.update();
        }
    }

    /**
     * Sets the guards that were put off. A thread calls this after it has called clients under the
     * lock and has released it.
     */
    static void refresh() {
        List<MarkerTable> stale;
        synchronized (LOCK) {
            if (STALE.isEmpty()) {
                return;
            }
            stale = new ArrayList<>(STALE);
            STALE.clear();
        }
        refresh(stale);
    }
}
