package cctrewrite.markers;

/** The program's calling-context tree: there is none where it is not counted. */
final class Trees {
    private Trees() {}

    static ContextNode node(Marker marker) {
        return null;
    }
}
