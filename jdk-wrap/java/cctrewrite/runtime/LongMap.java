package cctrewrite.runtime;

import sun.misc.Unsafe;

/**
 * An open hash table from non-zero longs to longs. It lies outside the Java heap, which may be full
 * when the profile is written.
 */
final class LongMap {
    private static final int ENTRY = 16;

    private long base;
    private int mask;
    private int size;

    LongMap(int expected) {
        int capacity = 64;
        while (capacity < 2 * expected && capacity < 1 << 29) {
            capacity <<= 1;
        }
        reserve(capacity);
    }

    private void reserve(int capacity) {
        Unsafe u = CctMemory.U;
        base = u.allocateMemory((long) capacity * ENTRY);
        mask = capacity - 1;
        for (long i = 0L; i < capacity; i++) {
            u.putLong(null, base + i * ENTRY, 0L);
        }
    }

    int size() {
        return size;
    }

    /** The value of {@code key}, or -1. */
    long get(long key) {
        long at = place(key);
        return CctMemory.U.getLong(null, at) == key ? CctMemory.U.getLong(null, at + 8L) : -1L;
    }

    void put(long key, long value) {
        Unsafe u = CctMemory.U;
        long at = place(key);
        if (u.getLong(null, at) != key) {
            if (2L * size > mask) {
                grow();
                at = place(key);
            }
            u.putLong(null, at, key);
            size++;
        }
        u.putLong(null, at + 8L, value);
    }

    /** All keys, in no particular order. */
    long[] keys() {
        long[] keys = new long[size];
        int k = 0;
        for (long i = 0L; i <= mask; i++) {
            long key = CctMemory.U.getLong(null, base + i * ENTRY);
            if (key != 0L) {
                keys[k++] = key;
            }
        }
        return keys;
    }

    void free() {
        CctMemory.U.freeMemory(base);
        base = 0L;
    }

    /**
     * The position of {@code key}, or the free position for it. MIDs are hashes, except for their
     * low seven bits.
     */
    private long place(long key) {
        Unsafe u = CctMemory.U;
        int i = (int) (key >>> 7 ^ key >>> 39) & mask;
        while (true) {
            long at = base + (long) i * ENTRY;
            long there = u.getLong(null, at);
            if (there == key || there == 0L) {
                return at;
            }
            i = i + 1 & mask;
        }
    }

    private void grow() {
        Unsafe u = CctMemory.U;
        long old = base;
        int oldMask = mask;
        reserve(2 * (oldMask + 1));
        for (long i = 0L; i <= oldMask; i++) {
            long key = u.getLong(null, old + i * ENTRY);
            if (key != 0L) {
                long at = place(key);
                u.putLong(null, at, key);
                u.putLong(null, at + 8L, u.getLong(null, old + i * ENTRY + 8L));
            }
        }
        u.freeMemory(old);
    }
}
