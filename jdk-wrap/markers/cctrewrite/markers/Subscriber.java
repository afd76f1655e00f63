package cctrewrite.markers;

/**
 * A client that subscribed to a marker, with its answers at that time. The runtime does not ask it
 * again when other clients subscribe or markers are switched.
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
