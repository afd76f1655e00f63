package cctrewrite.markers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What clients and programs ask for. */
public final class Markers {
    private Markers() {}

    /**
     * A client more, beside those of {@code -Dcctrewrite.markers.clients}; it is asked about all
     * markers of classes that came to one.
     */
    public static void register(Client client) {
        Clients.add(client);
    }

    /**
     * The innermost marker that the current thread is in; {@code null} if there is none.
     * {@link Marker#parent} leads on.
     */
    public static Marker current() {
        return Stacks.current().top();
    }

    /** All markers of classes that came to one, in no particular order. */
    public static List<MarkerDescriptor> descriptors() {
        List<MarkerDescriptor> all = new ArrayList<>();
        for (MarkerTable table : Clients.tables()) {
            for (MarkerDescriptor descriptor : table.descriptors()) {
                all.add(descriptor);
            }
        }
        return all;
    }

    /**
     * What is to be said of the places that have no markers although rules match them, of classes
     * that were defined while the program ran.
     */
    public static List<String> notes() {
        return Arrays.asList(Image.notes());
    }

    /** Subscribers are told of a marker again. */
    public static void enable(MarkerDescriptor descriptor) {
        Clients.enable(descriptor, true);
    }

    /** Nobody is told of a marker; exits of regions that are entered are still told. */
    public static void disable(MarkerDescriptor descriptor) {
        Clients.enable(descriptor, false);
    }

    /**
     * The same for all markers with a token, in classes that are still to come too. How many there
     * are by now.
     */
    public static int enable(String token) {
        return Clients.enable(token, true);
    }

    /**
     * The same for all markers with a token, in classes that are still to come too. How many there
     * are by now.
     */
    public static int disable(String token) {
        return Clients.enable(token, false);
    }

    /**
     * Nobody is told of a marker when an object comes to it that is its {@code this}. For markers
     * {@linkplain MarkerDescriptor#isPerObject per object}.
     */
    public static void ignore(Object object, MarkerDescriptor descriptor) {
        skip(object, descriptor, true);
    }

    /** Subscribers are told of the object again. */
    public static void attend(Object object, MarkerDescriptor descriptor) {
        skip(object, descriptor, false);
    }

    private static void skip(Object object, MarkerDescriptor descriptor, boolean skip) {
        if (!descriptor.perObject) {
            throw new IllegalArgumentException(
                    descriptor + " is not guarded by object; its rule must say per-object = true");
        }
        descriptor.table.skip(object, descriptor.index, skip);
    }
}
