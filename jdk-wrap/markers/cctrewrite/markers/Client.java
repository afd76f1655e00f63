package cctrewrite.markers;

import java.io.PrintStream;

/**
 * A marker client, which is notified when threads reach markers.
 * {@code -Dcctrewrite.markers.clients=a.B,c.D} names clients, which then need a public constructor
 * without arguments. A program can also pass a client to {@link Markers#register}. There may be
 * several clients.
 *
 * <p>Handlers run in the thread that reached the marker, and several threads may run one at the
 * same time. No client is notified of a client's own actions. A client that throws is not notified
 * any more, and the summary at the end of the run says so. The program does not see the exception.
 */
public interface Client {
    /**
     * Runs once, before all other methods. Here the client creates providers such as
     * {@link ObjectDeath}.
     */
    default void register() {}

    /**
     * Whether the client wants to be notified at this marker. Called once for each marker, when its
     * class first reaches one of its markers.
     */
    boolean subscribe(MarkerDescriptor descriptor);

    /**
     * Whether the runtime must call {@link #skips} at this marker. Called when the client
     * subscribes.
     */
    default boolean filters(MarkerDescriptor descriptor) {
        return false;
    }

    /**
     * Whether the client needs no notification of a thread with this receiver at the marker. The
     * runtime calls this before anything else at the marker, and only for the marker's single
     * subscriber. The code that it calls must have no markers.
     */
    default boolean skips(MarkerDescriptor descriptor, Object receiver) {
        return false;
    }

    /**
     * Whether the client needs only this marker's entries, and does not read the thread's other
     * markers. It then gets no {@link #markerExit}. If all clients of a marker are simple, the
     * marker is not put on the marker stack, and its exits cost next to nothing. Called when the
     * client subscribes.
     */
    default boolean isSimple(MarkerDescriptor descriptor) {
        return false;
    }

    /**
     * A thread is at the marker, or at the start of its region. The argument is valid until this
     * method returns.
     */
    void markerEnter(Marker marker);

    /**
     * A thread leaves the region of a marker whose {@link #markerEnter} was called. Not called if
     * the client {@linkplain #isSimple is simple} at this marker.
     */
    default void markerExit(Marker marker) {}

    /** An object that the client {@linkplain ObjectDeath#watch watches} is dead. */
    default void objectDeath(Object handback) {}

    /** A class has reached its first marker. Called for each of its methods with markers. */
    default void methodLoaded(MethodDescriptor method) {}

    /** The program ends: prints the client's results. */
    default void print(PrintStream out) {}
}
