package cctrewrite.markers;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How often a thread reached each marker. Only that thread writes it. The numbers are exact for
 * threads that have ended, and for other threads while they do not run.
 */
final class Counts {
    private static final List<Counts> LIVE = new ArrayList<>();
    private static final Counts ENDED = new Counts(null);
    private static int foldAt = 256;
    /** Whether the end of the run reports each marker's count. */
    static final boolean BY_MARKER;
    /** Whether markers without any other client also count. */
    static final boolean ALL;

    static {
        String said = Options.get("markers.counts", "");
        ALL = said.equals("all");
        BY_MARKER = ALL || Boolean.parseBoolean(said);
    }


    private final WeakReference<Thread> thread;
    private long[] entered = new long[BY_MARKER ? 64 : 0];
    /**
     * The number of notifications is this number minus {@link #left}. So each marker changes only
     * one number, in one direction.
     */
    private long filled;
    /** Counted down at each marker. When it falls below 0, some other work is due, too. */
    int left;
    /** Markers without notification because a client was running in the thread. */
    long ofClients;
    /**
     * Whether this is the JVM's own thread that gets no notifications, so that {@link #ofClients}
     * counts those that it missed.
     */
    boolean wakesVirtualThreads;
    /** The missed notifications of such threads together. */
    long ofWaking;
    /** Notifications that a client did not get, since there was no stack left for its handler. */
    long overflows;

    private Counts(WeakReference<Thread> thread) {
        this.thread = thread;
    }

    /** Counts of no thread, which are never read. */
    static Counts none() {
        return new Counts(null);
    }

    static synchronized Counts of(Thread thread) {
        if (LIVE.size() >= foldAt) {
            fold();
            foldAt = Math.max(256, 2 * LIVE.size());
        }
        Counts counts = new Counts(new WeakReference<>(thread));
        LIVE.add(counts);
        return counts;
    }

    /** Counts a marker. {@link #left} has been changed already. */
    void entered(int number) {
        long[] entered = this.entered;
        if (number >= entered.length) {
            entered = grow(number);
        }
        entered[number]++;
    }

    /**
     * Sets the number of markers until the next work is due. The marker that makes it due is one of
     * them.
     */
    void refill(int count) {
        filled += count;
        left += count;
    }

    /** The number of markers at which clients were notified. */
    long delivered() {
        return filled - left;
    }

    private long[] grow(int number) {
        return entered = Arrays.copyOf(entered, Math.max(number + 1, 2 * entered.length));
    }

    /** Adds up the threads that have ended: there may be millions. */
    private static void fold() {
        List<Counts> live = new ArrayList<>();
        for (Counts counts : LIVE) {
            Thread thread = counts.thread.get();
            if (thread == null || thread.getState() == Thread.State.TERMINATED) {
                ENDED.add(counts);
            } else {
                live.add(counts);
            }
        }
        LIVE.clear();
        LIVE.addAll(live);
    }

    private void add(Counts others) {
        long[] theirs = others.entered;
        if (theirs.length > entered.length) {
            grow(theirs.length - 1);
        }
        for (int i = 0; i < theirs.length; i++) {
            entered[i] += theirs[i];
        }
        filled += others.delivered();
        if (others.wakesVirtualThreads) {
            ofWaking += others.ofClients;
        } else {
            ofClients += others.ofClients;
            ofWaking += others.ofWaking;
        }
        overflows += others.overflows;
    }

    /** The sum of all threads. */
    static synchronized Counts sum() {
        Counts sum = new Counts(null);
        sum.add(ENDED);
        for (Counts counts : LIVE) {
            sum.add(counts);
        }
        return sum;
    }

    long of(int number) {
        return number < entered.length ? entered[number] : 0;
    }
}
