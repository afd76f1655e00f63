import cctrewrite.markers.MarkerDescriptor;

/** Hears of entries alone, and does nothing. */
public class SimpleNop extends Nop {
    @Override
    public boolean isSimple(MarkerDescriptor descriptor) {
        return true;
    }
}
