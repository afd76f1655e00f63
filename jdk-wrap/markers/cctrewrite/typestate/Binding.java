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
    /** Whether a call that returns false or null is no event. */
    final boolean ifResult;
    final Budget.Site allocation;
    private final int object;
    private final int parent;
    private final boolean isReported;
    /** Whether calls by the class library are no events. The rewriter knows this of calls. */
    private final boolean isOfProgram;

    /** The location of a marker at a call, once it is known. */
    private volatile Site site;

    Binding(MarkerDescriptor descriptor, Monitor monitor, Budget budget) {
        String[] words = descriptor.predicate().split(" ");
        this.descriptor = descriptor;
        this.monitor = monitor;
        property = monitor.property;
        if (words.length < 4) {
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
        boolean result = false;
        boolean program = false;
        for (int i = 4; i < words.length; i++) {
            result |= words[i].equals("if-result");
            program |= words[i].equals("of-program");
        }
        ifResult = result;
        isOfProgram = program;
        isReported = isReported(descriptor);
        allocation = budget.site(descriptor, property);
    }

    /** Whether the marker reports the result: an object, an array or a boolean. */
    private static boolean isReported(MarkerDescriptor descriptor) {
        String callee = descriptor.place().equals("call")
                ? descriptor.detail() : descriptor.method().descriptor();
        int end = callee.lastIndexOf(')');
        return end >= 0 && end + 1 < callee.length() && "L[Z".indexOf(callee.charAt(end + 1)) >= 0;
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

    /** The event's object; {@code null} if it is not of the property's types. */
    Object object(Marker marker) {
        Object found = of(marker, object);
        return property.objectTypes.include(found) ? found : null;
    }

    /** The event's parent; {@code null} if it is not of the property's types. */
    Object parent(Marker marker) {
        Object found = of(marker, parent);
        return property.parentTypes.include(found) ? found : null;
    }

    /** Whether the property is about this receiver, by its class ({@link #isOfReceiver}). */
    boolean concerns(Object receiver) {
        return (hasParent() ? property.parentTypes : property.objectTypes).include(receiver);
    }

    /**
     * Whether the event happens at a marker, by the result and the caller. A method that returns
     * nothing or a number has no result: markers do not report these.
     */
    boolean happens(Marker marker) {
        return (!ifResult || !isReported || isYes(marker.result()))
                && (!isOfProgram || Callers.isProgram());
    }

    private static boolean isYes(Object result) {
        return result != null && !Boolean.FALSE.equals(result);
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
