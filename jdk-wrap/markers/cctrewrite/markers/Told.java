package cctrewrite.markers;

import java.util.Arrays;

/**
 * Who is told of a marker. Replaced when that changes, never changed: regions that were entered are
 * left as they were entered.
 */
final class Told {
    final MarkerDescriptor descriptor;
    final Client[] clients;
    /** If there is one alone: the usual case, which needs no loop. */
    final Client single;
    /**
     * The same, if there is nothing else to be done at the marker than to tell it: no question
     * whether it hears of it, and no count by marker.
     */
    final Client straight;
    /** The one, if it wants to be asked before. */
    final Client filter;
    /**
     * Those that hear exits. If there are none, nothing is kept of who comes by, other than in
     * loops, whose head is come to again and again.
     */
    final Client[] leaving;
    /** If there is one alone. */
    final Client singleLeaving;
    final boolean isKept;
    /** Whether the region is over as soon as it is entered. */
    final boolean isInstant;
    /** Of a region that is kept: all but the last one; {@code null} if that is nobody. */
    final Told shorter;

    Told(MarkerDescriptor descriptor, Subscriber[] subscribers) {
        this.descriptor = descriptor;
        int count = subscribers.length;
        clients = new Client[count];
        Client[] leaving = new Client[count];
        int leavers = 0;
        for (int i = 0; i < count; i++) {
            clients[i] = subscribers[i].client;
            if (!subscribers[i].isSimple) {
                leaving[leavers++] = clients[i];
            }
        }
        this.leaving = Arrays.copyOf(leaving, leavers);
        single = count == 1 ? clients[0] : null;
        filter = count == 1 && subscribers[0].filters ? single : null;
        straight = filter == null && !Counts.BY_MARKER ? single : null;
        singleLeaving = leavers == 1 ? leaving[0] : null;
        isKept = descriptor.isPair() && (leavers > 0 || descriptor.isLoop());
        isInstant = isKept && descriptor.instant;
        shorter = isKept && count > 1
                ? new Told(descriptor, Arrays.copyOf(subscribers, count - 1)) : null;
    }
}
