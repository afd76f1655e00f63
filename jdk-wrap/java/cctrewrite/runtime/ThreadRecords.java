package cctrewrite.runtime;

import java.lang.ref.WeakReference;

/**
 * The records of threads, in memory of the load-time library. When a thread has ended, the next
 * thread takes over its record.
 *
 * <p>In bypass, and under the lock of the class that holds this table.
 */
final class ThreadRecords {
    /**
     * How many records a new thread tests before it gets a new one. The next search continues where
     * the last one stopped.
     */
    private static final int SEARCH = 32;

    private long[] records = new long[16];
    private Object[] owners = new Object[16];
    private int count;
    private int cursor;

    /** The number of records. */
    int count() {
        return count;
    }

    /** The record with this number. */
    long record(int i) {
        return records[i];
    }

    /** The thread that owns the record, if it is alive; otherwise null. */
    Thread living(int i) {
        Thread thread = (Thread) ((WeakReference<?>) owners[i]).get();
        return thread == null || !thread.isAlive() ? null : thread;
    }

    /** Adds a new record. */
    void add(long record, WeakReference<Thread> owner) {
        if (count == records.length) {
            long[] more = new long[2 * count];
            System.arraycopy(records, 0, more, 0, count);
            Object[] others = new Object[2 * count];
            System.arraycopy(owners, 0, others, 0, count);
            records = more;
            owners = others;
        }
        owners[count] = owner;
        records[count++] = record;
    }

    /** Gives the new owner the record of a thread that has ended; 0 if the search found none. */
    long ended(WeakReference<Thread> owner) {
        int tries = count < SEARCH ? count : SEARCH;
        for (int i = 0; i < tries; i++) {
            int here = cursor;
            cursor = cursor + 1 >= count ? 0 : cursor + 1;
            if (living(here) == null) {
                owners[here] = owner;
                return records[here];
            }
        }
        return 0L;
    }
}
