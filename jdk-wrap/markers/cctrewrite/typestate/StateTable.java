package cctrewrite.typestate;

import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Entries of objects, by identity. Open hashing in stripes: looking up takes no lock, what changes
 * a stripe takes its own. Entries of objects that are gone are taken out when others are put in, so
 * that what is kept is bounded by what lives, and what has died since.
 */
final class StateTable {
    private static final int STRIPES = 64;
    private static final Entry GONE = new Entry(new Object(), 0, 0, 0, null);

    final Property property;
    private final int childStates;
    private final AtomicLong parents = new AtomicLong();
    private final Stripe[] stripes = new Stripe[STRIPES];
    private final ReferenceQueue<Object> queue = new ReferenceQueue<>();

    /** Of parents with how many states their children have; else 0. */
    StateTable(Property property, int childStates) {
        this.property = property;
        this.childStates = childStates;
        for (int i = 0; i < STRIPES; i++) {
            stripes[i] = new Stripe();
        }
    }

    private static int mixed(int hash) {
        int mixed = hash * 0x9E3779B9;
        return mixed ^ mixed >>> 15;
    }

    /** The entry of an object; {@code null} if it has none. */
    Entry get(Object object) {
        int hash = System.identityHashCode(object);
        int mixed = mixed(hash);
        Stripe stripe = stripes[mixed & STRIPES - 1];
        Entry found = Stripe.find(stripe.entries, object, mixed);
        if (found != null) {
            return found;
        }
        // What another thread has just put in may not be visible without the lock.
        synchronized (stripe) {
            return Stripe.find(stripe.entries, object, mixed);
        }
    }

    /** The entry of an object, made if it has none. */
    Entry make(Object object) {
        Entry entry = get(object);
        if (entry != null) {
            return entry;
        }
        int hash = System.identityHashCode(object);
        int mixed = mixed(hash);
        Stripe stripe = stripes[mixed & STRIPES - 1];
        synchronized (stripe) {
            entry = Stripe.find(stripe.entries, object, mixed);
            if (entry == null) {
                long id = childStates == 0
                        ? property.followed.incrementAndGet() : parents.incrementAndGet();
                entry = new Entry(object, hash, id, childStates, queue);
                stripe.add(entry, mixed);
            }
        }
        return entry;
    }

    /**
     * An entry whose object is gone; {@code null} if there is none any more. It is not in the table
     * any more.
     */
    Entry dead() {
        Entry entry = (Entry) queue.poll();
        if (entry == null) {
            return null;
        }
        int mixed = mixed(entry.hash);
        Stripe stripe = stripes[mixed & STRIPES - 1];
        synchronized (stripe) {
            stripe.remove(entry, mixed);
        }
        return entry;
    }

    /** How many entries there are. */
    int size() {
        int size = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                size += stripe.size;
            }
        }
        return size;
    }

    /** All entries, as they are now. */
    Entry[] all() {
        Entry[] all = new Entry[size() + 16];
        int count = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                for (Entry entry : stripe.entries) {
                    if (entry != null && entry != GONE) {
                        if (count == all.length) {
                            all = java.util.Arrays.copyOf(all, 2 * count);
                        }
                        all[count++] = entry;
                    }
                }
            }
        }
        return java.util.Arrays.copyOf(all, count);
    }

    private static final class Stripe {
        volatile Entry[] entries = new Entry[16];
        int size;
        /** Places that are not empty: entries, and where some were. */
        int used;

        static Entry find(Entry[] entries, Object object, int mixed) {
            int mask = entries.length - 1;
            for (int at = mixed >>> 6 & mask;; at = at + 1 & mask) {
                Entry entry = entries[at];
                if (entry == null) {
                    return null;
                }
                if (entry != GONE && entry.get() == object) {
                    return entry;
                }
            }
        }

        void add(Entry entry, int mixed) {
            if (4 * (used + 1) > 3 * entries.length) {
                rebuild();
            }
            put(entries, entry, mixed);
            size++;
            used++;
        }

        private static void put(Entry[] entries, Entry entry, int mixed) {
            int mask = entries.length - 1;
            int at = mixed >>> 6 & mask;
            while (entries[at] != null) {
                at = at + 1 & mask;
            }
            entries[at] = entry;
        }

        private void rebuild() {
            int length = 16;
            while (length < 2 * (size + 1)) {
                length *= 2;
            }
            Entry[] larger = new Entry[length];
            for (Entry entry : entries) {
                if (entry != null && entry != GONE) {
                    put(larger, entry, mixed(entry.hash));
                }
            }
            used = size;
            entries = larger;
        }

        void remove(Entry entry, int mixed) {
            Entry[] entries = this.entries;
            int mask = entries.length - 1;
            for (int at = mixed >>> 6 & mask; entries[at] != null; at = at + 1 & mask) {
                if (entries[at] == entry) {
                    entries[at] = GONE;
                    size--;
                    return;
                }
            }
        }
    }
}
