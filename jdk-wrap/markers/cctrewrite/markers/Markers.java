package cctrewrite.markers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The methods for clients and programs. */
public final class Markers {
    private Markers() {}

    /**
     * Adds a client to those of {@code -Dcctrewrite.markers.clients}, and asks it about all markers
     * of classes that have reached one.
     */
    public static void register(Client client) {
        Clients.add(client);
    }

    /**
     * The innermost marker that the current thread is in; {@code null} if there is none.
     * {@link Marker#parent} leads to the outer ones.
     */
    public static Marker current() {
        return Stacks.current().top();
    }

    /** All markers of classes that have reached one, in no particular order. */
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
     * Notes on locations that match a rule but have no marker, in classes that were defined while
     * the program ran.
     */
    public static List<String> notes() {
        return Arrays.asList(Image.notes());
    }

    /** Enables a marker: its subscribers are notified again. */
    public static void enable(MarkerDescriptor descriptor) {
        Clients.enable(descriptor, true);
    }

    /**
     * Disables a marker: no client is notified at it any more. Exits of regions that were entered
     * before are still notified.
     */
    public static void disable(MarkerDescriptor descriptor) {
        Clients.enable(descriptor, false);
    }

    /**
     * Enables all markers with a token, also in classes that register later. Returns the present
     * number of such markers.
     */
    public static int enable(String token) {
        return Clients.enable(token, true);
    }

    /**
     * Disables all markers with a token, also in classes that register later. Returns the present
     * number of such markers.
     */
    public static int disable(String token) {
        return Clients.enable(token, false);
    }

    /**
     * Makes a marker ignore an object: no client is notified if the object is {@code this} at the
     * marker. For markers {@linkplain MarkerDescriptor#isPerObject per object}.
     */
    public static void ignore(Object object, MarkerDescriptor descriptor) {
        skip(object, descriptor, true);
    }

    /** Undoes {@link #ignore}: subscribers are notified of the object again. */
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
