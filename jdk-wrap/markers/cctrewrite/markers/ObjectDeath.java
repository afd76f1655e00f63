package cctrewrite.markers;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A provider: notifies a client when objects are dead. Each client has its own. */
public final class ObjectDeath {
    private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();
    private static boolean started;

    private final Client client;
    private final Map<WatchedObject, Boolean> watched = new ConcurrentHashMap<>();

    private ObjectDeath(Client client) {
        this.client = client;
    }

    /** The provider of a client. Call it in {@link Client#register}. */
    public static ObjectDeath of(Client client) {
        synchronized (QUEUE) {
            if (!started) {
                started = true;
                Runnable work = new Runnable() {
                    @Override
                    public void run() {
                        notifyClients();
                    }
                };
                Thread thread = Boot.apart(new Thread(work, "cctrewrite object death"));
                thread.setDaemon(true);
                thread.start();
            }
        }
        return new ObjectDeath(client);
    }

    /**
     * Watches an object. When it is unreachable, {@link Client#objectDeath} gets the handback,
     * which must not refer to the object.
     */
    public void watch(Object object, Object handback) {
        watched.put(new WatchedObject(object, handback, this), true);
    }

    /** The handbacks of objects that are still alive. */
    public List<Object> alive() {
        List<Object> handbacks = new ArrayList<>();
        for (WatchedObject watched : this.watched.keySet()) {
            handbacks.add(watched.handback);
        }
        return Collections.unmodifiableList(handbacks);
    }

    private static void notifyClients() {
        MarkerStack stack = Stacks.current();
        stack.silence();
        while (true) {
            WatchedObject dead;
            try {
                Reference<?> next = QUEUE.remove();
                dead = (WatchedObject) next;
            } catch (InterruptedException end) {
                return;
            }
            if (dead.of.watched.remove(dead) != null) {
                try {
                    dead.of.client.objectDeath(dead.handback);
                } catch (Throwable thrown) {
                    Clients.threw(dead.of.client, thrown, stack.counts);
                }
            }
        }
    }

    private static final class WatchedObject extends PhantomReference<Object> {
        final Object handback;
        final ObjectDeath of;

        WatchedObject(Object object, Object handback, ObjectDeath of) {
            super(object, QUEUE);
            this.handback = handback;
            this.of = of;
        }
    }
}
