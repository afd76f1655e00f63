package cctrewrite.typestate;

import cctrewrite.markers.MarkerDescriptor;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps the overhead within what it may be, after QVM: of sites at which many objects come up only
 * each second, fourth ... is followed. What is measured is the time spent in handlers, of one event
 * in {@link #EACH}, against the time that goes by.
 */
final class Budget {
    /** Of so many events one is measured. */
    static final int EACH = 64;
    private static final long INTERVAL_NS = 50_000_000;
    private static final int MOST = 1 << 16;
    /** Events of one object after which it is given up while there is too much. */
    private static final int HOT = 100_000;

    /** The part of the time that may be spent; 1 and more is no limit. */
    private final double part;
    private final List<Site> sites = new ArrayList<>();
    private long begun = System.nanoTime();
    private long spent;
    private volatile boolean tooMuch;
    private boolean bitten;

    Budget(double part) {
        this.part = part;
    }

    boolean isLimited() {
        return part < 1;
    }

    /** Whether it was ever too much. */
    synchronized boolean hasBitten() {
        return bitten;
    }

    /** A marker at which objects come up. */
    synchronized Site site(MarkerDescriptor descriptor, Property property) {
        Site site = new Site(descriptor, property);
        sites.add(site);
        return site;
    }

    /** Whether an object that comes up there is followed. */
    boolean follows(Site site) {
        // Not exact where several threads come at once, and need not be.
        int number = site.objects++;
        return site.period == 1 || number % site.period == 0;
    }

    /** Whether an object has had so many events that it is given up. */
    boolean isTooMuch(Entry entry) {
        return tooMuch && entry.heard > HOT && entry.state != Entry.ASIDE;
    }

    /** An event was measured. */
    synchronized void measured(long nanoseconds) {
        spent += nanoseconds * EACH;
        long now = System.nanoTime();
        long passed = now - begun;
        if (passed < INTERVAL_NS) {
            return;
        }
        double used = (double) spent / passed;
        tooMuch = used > part;
        bitten |= tooMuch;
        int most = 0;
        for (Site site : sites) {
            most = Math.max(most, site.objects - site.before);
        }
        for (Site site : sites) {
            int came = site.objects - site.before;
            site.before = site.objects;
            if (tooMuch && 2L * came >= most && site.period < MOST) {
                // The busiest give way; who has few is followed as before.
                site.period *= 2;
            } else if (used < part / 2 && site.period > 1) {
                site.period /= 2;
            }
        }
        begun = now;
        spent = 0;
    }

    /** Where objects come up. */
    static final class Site {
        final MarkerDescriptor descriptor;
        final Property property;
        volatile int period = 1;
        int objects;
        int before;

        Site(MarkerDescriptor descriptor, Property property) {
            this.descriptor = descriptor;
            this.property = property;
        }
    }
}
