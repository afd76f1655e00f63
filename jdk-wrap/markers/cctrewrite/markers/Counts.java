package cctrewrite.markers;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * How often a thread came to which marker. Written by that thread alone; exact of threads that have
 * ended, and of others when they rest.
 */
final class Counts {
    private static final List<Counts> LIVE = new ArrayList<>();
    private static final Counts ENDED = new Counts(null);
    private static int foldAt = 256;
    /** Whether it is told at the end of each marker how often it was come to. */
    static final boolean BY_MARKER;
    /** Whether those count, too, that nobody else hears of. */
    static final boolean ALL;

    static {
        String said = Options.get("markers.counts", "");
        ALL = said.equals("all");
        BY_MARKER = ALL || Boolean.parseBoolean(said);
    }


    private final WeakReference<Thread> thread;
    private long[] entered = new long[BY_MARKER ? 64 : 0];
    /**
     * How often some marker was told of is this less what is left of it: so one number is counted,
     * and in one direction.
     */
    private long filled;
    /** Counted down at each marker; when it is below 0 something else is due, too. */
    int left;
    /** Not delivered since a client was running in the thread. */
    long ofClients;
    /**
     * Whether this is the thread of the JVM's own that is told nothing, so that {@link #ofClients}
     * counts that.
     */
    boolean wakesVirtualThreads;
    /** Of these threads together. */
    long ofWaking;
    /** Not delivered to some client, since there was no stack left for its handler. */
    long overflows;

    private Counts(WeakReference<Thread> thread) {
        this.thread = thread;
    }

    /** Of no thread: what is counted here is not asked for. */
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

    /** The thread is at a marker, which {@link #left} has been told. */
    void entered(int number) {
        long[] entered = this.entered;
        if (number >= entered.length) {
            entered = grow(number);
        }
        entered[number]++;
    }

    /** After so many more markers something is due again. The last one counts among them. */
    void refill(int count) {
        filled += count;
        left += count;
    }

    /** How often some marker was told of. */
    long delivered() {
        return filled - left;
    }

    private long[] grow(int number) {
        return entered = Arrays.copyOf(entered, Math.max(number + 1, 2 * entered.length));
    }

    /** Threads that have ended count together: there may be millions. */
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

    /** All threads together. */
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
