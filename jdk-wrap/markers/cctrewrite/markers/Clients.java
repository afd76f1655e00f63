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

/** The clients, and who of them is told of which marker. */
final class Clients {
    /**
     * Held while anything here changes; handlers are never called under it, only
     * {@link Client#subscribe} and {@link Client#register}.
     */
    static final Object LOCK = new Object();

    private static final List<Client> ALL = new ArrayList<>();
    private static final List<WeakReference<MarkerTable>> TABLES = new ArrayList<>();
    /** Tokens that were disabled or enabled for classes that are still to come. */
    private static final Map<String, Boolean> SWITCHED = new HashMap<>();
    /** Clients that threw, and what. */
    private static final Map<Client, Throwable> FAILED = new IdentityHashMap<>();

    /** What is wrong with clients that could not be loaded. */
    private static final List<String> MISSING = new ArrayList<>();
    /** The client that checks properties. */
    private static final String CHECKER = "cctrewrite.typestate.Typestate";

    /** Whose guards are to be set, once nobody holds the lock any more. */
    private static final Set<MarkerTable> STALE = new LinkedHashSet<>();

    /** Whether there are any. Who reads it late tells one of them once more. */
    private static boolean someFailed;
    private static boolean loaded;
    private static int numbers;

    private Clients() {}

    /** Numbers for so many markers. */
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
            // Its rules are of properties.
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

    /** Loads the clients before any class has come to a marker. */
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

    /** A client more; it is asked about all markers that are known. */
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

    /** All clients are asked about a new table. */
    static void subscribe(MarkerTable table) {
        TABLES.add(new WeakReference<>(table));
        for (Client client : new ArrayList<>(ALL)) {
            ask(client, table);
        }
    }

    /** Whether a marker is enabled when its class comes. */
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
                    tell(descriptor);
                }
            }
        } catch (Throwable thrown) {
            threw(client, thrown, null);
        }
    }

    private static void tell(MarkerDescriptor descriptor) {
        Subscriber[] all = descriptor.enabled ? descriptor.subscribers : MarkerDescriptor.NOBODY;
        descriptor.table.told[descriptor.index] = all.length == 0
                ? null : new Told(descriptor, all);
    }

    /** One marker is told of, or no more. */
    static void enable(MarkerDescriptor descriptor, boolean enabled) {
        synchronized (LOCK) {
            descriptor.enabled = enabled;
            tell(descriptor);
        }
        refresh(Collections.singleton(descriptor.table));
    }

    /** The same of all with a token, in classes that are still to come too. How many there are. */
    static int enable(String token, boolean enabled) {
        int found = 0;
        Set<MarkerTable> changed = new LinkedHashSet<>();
        synchronized (LOCK) {
            SWITCHED.put(token, enabled);
            for (MarkerTable table : tables()) {
                for (MarkerDescriptor descriptor : table.descriptors()) {
                    if (descriptor.token().equals(token)) {
                        descriptor.enabled = enabled;
                        tell(descriptor);
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

    /** What is wrong with clients that could not be loaded. */
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

    /** How many markers there were. */
    static int known() {
        synchronized (LOCK) {
            return numbers;
        }
    }

    /** Whether a client is still told something. */
    static boolean listens(Client client) {
        return !someFailed || !hasFailed(client);
    }

    private static boolean hasFailed(Client client) {
        synchronized (LOCK) {
            return FAILED.containsKey(client);
        }
    }

    /**
     * A client threw: it is told nothing more, unless it was the program that left no stack for it.
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
                    tell(descriptor);
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
     * Sets guards by who is told now. Who sets those of a class that another thread initialises
     * waits for that thread, which may be waiting for the lock: who has the lock, since a client
     * asked for this, or threw, while it subscribed, leaves it to {@link #refresh()}.
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
     * Sets those that were put off. For whoever has called clients under the lock, and has given it
     * back.
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
