package cctrewrite.typestate;

import cctrewrite.markers.MarkerDescriptor;
import java.util.ArrayList;
import java.util.List;

/**
 * Limits the overhead, after QVM. At sites that yield many objects, the analysis follows only every
 * second, fourth ... object. It measures the time in handlers, for one event in {@link #EACH}, and
 * compares it with the elapsed time.
 */
final class Budget {
    /** One of this many events is measured. */
    static final int EACH = 64;
    private static final long INTERVAL_NS = 50_000_000;
    private static final int MOST = 1 << 16;
    /**
     * The number of events after which the analysis stops following an object, while the overhead
     * is too high.
     */
    private static final int HOT = 100_000;

    /** The part of the time that the analysis may take; 1 and more means no limit. */
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

    /** Whether the overhead was ever too high. */
    synchronized boolean hasBitten() {
        return bitten;
    }

    /** Adds a marker at which objects appear. */
    synchronized Site site(MarkerDescriptor descriptor, Property property) {
        Site site = new Site(descriptor, property);
        sites.add(site);
        return site;
    }

    /** Whether the analysis follows the next object of the site. */
    boolean follows(Site site) {
        // Not exact if several threads come at once; it need not be.
        int number = site.objects++;
        return site.period == 1 || number % site.period == 0;
    }

    /** Whether the analysis must stop following an object because it has too many events. */
    boolean isTooMuch(Entry entry) {
        return tooMuch && entry.heard > HOT && entry.state != Entry.ASIDE;
    }

    /** Adds the time of a measured event, and adapts the periods after each interval. */
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
                // Only the busiest sites follow fewer objects; the others keep their period.
                site.period *= 2;
            } else if (used < part / 2 && site.period > 1) {
                site.period /= 2;
            }
        }
        begun = now;
        spent = 0;
    }

    /** A marker at which objects appear. */
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
