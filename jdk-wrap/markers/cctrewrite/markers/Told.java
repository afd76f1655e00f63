package cctrewrite.markers;

/** Who is told of a marker. Replaced when that changes, never changed: regions that were entered are left as they were entered. */
final class Told {
    final MarkerDescriptor descriptor;
    final Client[] clients;
    /** If there is one alone: the usual case, which needs no loop. */
    final Client single;
    /** The one, if it wants to be asked before. */
    final Client filter;
    /** Those that hear exits. If there are none, nothing is kept of who comes by. */
    final Client[] leaving;
    final boolean isKept;
    /** Whether the region is over as soon as it is entered. */
    final boolean isInstant;

    Told(MarkerDescriptor descriptor, Client[] clients) {
        this.descriptor = descriptor;
        this.clients = clients;
        single = clients.length == 1 ? clients[0] : null;
        filter = single != null && single.filters(descriptor) ? single : null;
        int count = 0;
        Client[] leaving = new Client[clients.length];
        for (Client client : clients) {
            if (!client.isSimple(descriptor)) {
                leaving[count++] = client;
            }
        }
        this.leaving = java.util.Arrays.copyOf(leaving, count);
        isKept = count > 0 && descriptor.isPair();
        isInstant = isKept && descriptor.instant;
    }
}
