import cctrewrite.markers.Client;
import cctrewrite.markers.Marker;
import cctrewrite.markers.MarkerDescriptor;

/** Hears of all markers, at entries and exits, and does nothing (MTF 2010, 3.4.1). */
public class Nop implements Client {
    @Override
    public boolean subscribe(MarkerDescriptor descriptor) {
        return true;
    }

    @Override
    public void markerEnter(Marker marker) {}

    @Override
    public void markerExit(Marker marker) {}
}
