package cctrewrite.markers;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How often a thread came to which marker. Written by that thread alone; exact of threads that have ended, and of others when they rest. */
final class Counts {
    private static final List<Counts> LIVE = new ArrayList<>();
    private static final Counts ENDED = new Counts(null);
    private static int foldAt = 256;

    private final WeakReference<Thread> thread;
    private long[] entered = new long[64];
    /** Not delivered since a client was running in the thread. */
    long ofClients;
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

    void entered(int number) {
        entered(number, 1);
    }

    void entered(int number, int times) {
        long[] entered = this.entered;
        if (number >= entered.length) {
            entered = grow(number);
        }
        entered[number] += times;
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
        ofClients += others.ofClients;
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
