package cctrewrite.typestate;

import cctrewrite.markers.CallingContexts;
import cctrewrite.markers.Marker;
import cctrewrite.markers.MarkerDescriptor;

/** The meaning of a marker: an event of a property, and the object that it happens to. */
final class Binding {
    private static final int NOBODY = -1;
    private static final int RECEIVER = -2;
    private static final int RESULT = -3;

    final MarkerDescriptor descriptor;
    final Property property;
    final Monitor monitor;
    final int event;
    final boolean onReturn;
    final Budget.Site allocation;
    private final int object;
    private final int parent;
    /** For markers at a call. */
    private volatile Site site;

    Binding(MarkerDescriptor descriptor, Monitor monitor, Budget budget) {
        String[] words = descriptor.predicate().split(" ");
        this.descriptor = descriptor;
        this.monitor = monitor;
        property = monitor.property;
        if (words.length != 4) {
            throw new IllegalArgumentException("marker " + descriptor
                    + " has no predicate of an event");
        }
        event = property.event(words[0]);
        if (event < 0) {
            throw new IllegalArgumentException("property " + property.name + " has no event "
                    + words[0]);
        }
        onReturn = words[1].equals("return");
        object = role(words[2]);
        parent = role(words[3]);
        allocation = budget.site(descriptor, property);
    }

    private static int role(String word) {
        switch (word) {
            case "-":
                return NOBODY;
            case "receiver":
                return RECEIVER;
            case "result":
                return RESULT;
            default:
                return Integer.parseInt(word.substring(word.indexOf(':') + 1));
        }
    }

    private static Object of(Marker marker, int role) {
        switch (role) {
            case NOBODY:
                return null;
            case RECEIVER:
                return marker.receiver();
            case RESULT:
                return marker.result();
            default:
                Object[] arguments = marker.arguments();
                return arguments != null && role < arguments.length ? arguments[role] : null;
        }
    }

    Object object(Marker marker) {
        return of(marker, object);
    }

    Object parent(Marker marker) {
        return of(marker, parent);
    }

    /**
     * Whether the event happens only to the marker's receiver, as soon as the receiver is known.
     */
    boolean isOfReceiver() {
        return !onReturn && (object == RECEIVER && parent == NOBODY || object == NOBODY
                && parent == RECEIVER);
    }

    boolean hasObject() {
        return object != NOBODY;
    }

    boolean hasParent() {
        return parent != NOBODY;
    }

    /**
     * The location of the event: for a call the marker's own location, for a method its caller's.
     */
    Site site() {
        Site known = site;
        if (known != null) {
            return known;
        }
        boolean isMethod = descriptor.place().equals("method");
        StackTraceElement frame = CallingContexts.frame(isMethod ? 1 : 0);
        if (frame == null) {
            return new Site(descriptor.owner().getName(), descriptor.method().name(), null,
                    descriptor.line());
        }
        Site found = Site.of(frame);
        if (!isMethod) {
            site = found;
        }
        return found;
    }
}
