package cctrewrite.markers;

/**
 * Subscribes to all markers and does nothing, so that they are counted:
 * {@code -Dcctrewrite.markers.counts=all}.
 */
final class Counting implements Client {
    @Override
    public boolean subscribe(MarkerDescriptor descriptor) {
        return true;
    }

    @Override
    public boolean isSimple(MarkerDescriptor descriptor) {
        return true;
    }

    @Override
    public void markerEnter(Marker marker) {}
}
