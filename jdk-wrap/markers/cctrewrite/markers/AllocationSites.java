package cctrewrite.markers;

/** A provider: the allocation sites of objects that were allocated at a marker. */
public final class AllocationSites {
    private final ObjectTable<MarkerDescriptor> sites = new ObjectTable<>();

    /**
     * Stores the marker of an allocation. A client calls this with each of its markers; other kinds
     * of markers have no effect.
     */
    public void note(Marker marker) {
        if (marker.descriptor().place().equals("allocation") && marker.receiver != null) {
            sites.put(marker.receiver, marker.descriptor());
        }
    }

    /** The marker at which the object was allocated; {@code null} if it was not stored. */
    public MarkerDescriptor of(Object object) {
        return sites.get(object);
    }
}
