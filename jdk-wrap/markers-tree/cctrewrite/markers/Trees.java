package cctrewrite.markers;

import cctrewrite.agent.MethodName;
import cctrewrite.runtime.Counters;
import java.lang.CctRuntime;
import java.util.ArrayList;
import java.util.List;

/** The program's calling-context tree. */
final class Trees {
    /** The constants of FNV-1a, 64 bits. */
    private static final long BASIS = 0xCBF29CE484222325L;
    private static final long PRIME = 0x100000001B3L;

    private Trees() {}

    /** The thread's node when it reached a marker; null if the thread was not recorded then. */
    static ContextNode node(Marker marker) {
        // A smaller number is no address, with or without the offset of a slot.
        if (marker == null || marker.context < 2 * CctRuntime.LIMIT) {
            return null;
        }
        List<Long> mids = new ArrayList<>();
        List<String> frames = new ArrayList<>();
        long node = Counters.owner(marker.context);
        for (long parent = Counters.parent(node); parent != 0L; parent = Counters.parent(node)) {
            mids.add(Counters.mid(node));
            MethodName method = Counters.method(node);
            frames.add(method == null ? "?" : method.toString());
            node = parent;
        }
        long id = BASIS;
        for (int i = mids.size() - 1; i >= 0; i--) {
            id = (id ^ mids.get(i)) * PRIME;
            id ^= id >>> 32;
        }
        return new ContextNode(id, frames);
    }
}
