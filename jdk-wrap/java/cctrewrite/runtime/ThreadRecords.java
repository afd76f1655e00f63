package cctrewrite.runtime;

import java.lang.ref.WeakReference;

/**
 * The records of threads, whose memory is the load-time library's. One whose thread has ended goes
 * to the next thread.
 *
 * <p>Used under the lock of who has them, and in bypass.
 */
final class ThreadRecords {
    /**
     * How many records a new thread looks at before it gets one of its own. The search goes on
     * where the last one stopped.
     */
    private static final int SEARCH = 32;

    private long[] records = new long[16];
    private Object[] owners = new Object[16];
    private int count;
    private int cursor;

    /** How many there are. */
    int count() {
        return count;
    }

    /** The record with this number. */
    long record(int i) {
        return records[i];
    }

    /** The thread that has it, if it lives; or null. */
    Thread living(int i) {
        Thread thread = (Thread) ((WeakReference<?>) owners[i]).get();
        return thread == null || !thread.isAlive() ? null : thread;
    }

    /** A new record. */
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

    /** The record of a thread that has ended, which is the new owner's now; 0 if none was found. */
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
