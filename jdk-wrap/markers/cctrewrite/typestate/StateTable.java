package cctrewrite.typestate;

import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The entries of objects, by identity: a hash table in stripes, with open addressing. A lookup
 * takes no lock; a change takes the lock of its stripe. An insertion first removes entries of dead
 * objects. So the size is bounded by the living objects plus those that have died since the last
 * insertion.
 */
final class StateTable {
    private static final int STRIPES = 64;
    private static final Entry GONE = new Entry(new Object(), 0, 0, 0, null);

    final Property property;
    private final int childStates;
    private final AtomicLong parents = new AtomicLong();
    private final Stripe[] stripes = new Stripe[STRIPES];
    private final ReferenceQueue<Object> queue = new ReferenceQueue<>();

    /**
     * Creates a table. {@code childStates} is the number of states of children for a table of
     * parents; else 0.
     */
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
        // Without the lock, an entry that another thread has just inserted may not be visible.
        synchronized (stripe) {
            return Stripe.find(stripe.entries, object, mixed);
        }
    }

    /** The entry of an object. Creates it if there is none. */
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

    /** Removes an entry whose object is dead, and returns it; {@code null} if there is none. */
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

    /** The number of entries. */
    int size() {
        int size = 0;
        for (Stripe stripe : stripes) {
            synchronized (stripe) {
                size += stripe.size;
            }
        }
        return size;
    }

    /** All entries at this time. */
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
        /** Cells in use: entries, and cells of removed entries. */
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
