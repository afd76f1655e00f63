package cctrewrite.markers;

import java.util.Arrays;

/**
 * The clients to notify at a marker. A change replaces this object and never changes it, so regions
 * that were entered keep theirs.
 */
final class Listeners {
    final MarkerDescriptor descriptor;
    final Client[] clients;
    /** The only client; the usual case, which needs no loop. */
    final Client single;
    /**
     * The only client, if the marker needs no other work than its notification: no call of
     * {@link Client#skips}, and no count by marker.
     */
    final Client straight;
    /** The only client, if it wants {@link Client#skips} calls. */
    final Client filter;
    /**
     * The clients that are notified of exits. If there are none, the marker keeps nothing on the
     * stack. Loops are an exception, since the thread reaches their head again and again.
     */
    final Client[] leaving;
    /** The only client of that kind. */
    final Client singleLeaving;
    final boolean isKept;
    /** Whether the region ends as soon as it begins. */
    final boolean isInstant;
    /**
     * For a region that is kept on the stack: all clients except the last one; {@code null} if none
     * are left.
     */
    final Listeners shorter;

    Listeners(MarkerDescriptor descriptor, Subscriber[] subscribers) {
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
                ? new Listeners(descriptor, Arrays.copyOf(subscribers, count - 1)) : null;
    }
}
