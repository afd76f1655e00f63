package cctrewrite.markers;

/** A provider: where objects were made, of those that came by a marker at an allocation. */
public final class AllocationSites {
    private final ObjectTable<MarkerDescriptor> sites = new ObjectTable<>();

    /** To be called with what a client hears of markers at allocations; others are left aside. */
    public void note(Marker marker) {
        if (marker.descriptor().place().equals("allocation") && marker.receiver != null) {
            sites.put(marker.receiver, marker.descriptor());
        }
    }

    /** The marker at which an object was made; {@code null} if it was not noted. */
    public MarkerDescriptor of(Object object) {
        return sites.get(object);
    }
}
