package cctrewrite.markers;

/**
 * A client that subscribed to a marker, and what it said then: it is not asked again, neither when
 * others come nor when markers are switched.
 */
final class Subscriber {
    final Client client;
    final boolean isSimple;
    final boolean filters;

    Subscriber(Client client, MarkerDescriptor descriptor) {
        this.client = client;
        isSimple = client.isSimple(descriptor);
        filters = client.filters(descriptor);
    }
}
