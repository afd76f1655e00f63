package cctrewrite.markers;

/** The program's calling-context tree; there is none, since the program is not counted. */
final class Trees {
    private Trees() {}

    static ContextNode node(Marker marker) {
        return null;
    }
}
