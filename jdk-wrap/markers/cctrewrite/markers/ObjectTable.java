package cctrewrite.markers;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * A provider: a client's values for objects, by identity. The table does not keep the objects
 * alive, and calls none of their methods.
 */
public final class ObjectTable<V> {
    private final ConcurrentHashMap<Object, V> values = new ConcurrentHashMap<>();
    private final ReferenceQueue<Object> queue = new ReferenceQueue<>();

    /** The value of an object; {@code null} if it has none. */
    public V get(Object object) {
        return values.get(new Probe(object));
    }

    /** Gives an object a value. */
    public void put(Object object, V value) {
        sweep();
        values.put(new Key(object, queue), value);
    }

    /** The value of an object. Creates it if the object has none. */
    public V get(Object object, Supplier<V> first) {
        V value = get(object);
        if (value == null) {
            sweep();
            V made = first.get();
            V old = values.putIfAbsent(new Key(object, queue), made);
            value = old != null ? old : made;
        }
        return value;
    }

    /** Removes an object's value. */
    public void remove(Object object) {
        values.remove(new Probe(object));
    }

    /** The number of objects with a value. */
    public int size() {
        sweep();
        return values.size();
    }

    private void sweep() {
        for (Object dead = queue.poll(); dead != null; dead = queue.poll()) {
            values.remove(dead);
        }
    }

    private static Object referent(Object key) {
        return key instanceof Key ? ((Key) key).get() : ((Probe) key).object;
    }

    private static boolean same(Object one, Object other) {
        Object object = referent(one);
        return one == other || object != null && object == referent(other);
    }

    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(Object object, ReferenceQueue<Object> queue) {
            super(object, queue);
            hash = System.identityHashCode(object);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            return (other instanceof Key || other instanceof Probe) && same(this, other);
        }
    }

    private static final class Probe {
        private final Object object;

        Probe(Object object) {
            this.object = object;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(object);
        }

        @Override
        public boolean equals(Object other) {
            return (other instanceof Key || other instanceof Probe) && same(this, other);
        }
    }
}
