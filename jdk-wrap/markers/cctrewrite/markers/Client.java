package cctrewrite.markers;

import java.io.PrintStream;

/**
 * What hears of markers. Named by {@code -Dcctrewrite.markers.clients=a.B,c.D}, which needs a
 * public constructor without arguments, or given to {@link Markers#register}. Several may be there
 * at once.
 *
 * <p>Handlers run in the thread that came to the marker, and several threads may be in one at the
 * same time. What a client does is not told to any client. A client that throws is told nothing
 * more, and the end of the run says so; the program does not see the exception.
 */
public interface Client {
    /** Once, before anything else: here providers such as {@link ObjectDeath} are asked for. */
    default void register() {}

    /**
     * Whether it wants to hear of this marker: asked once for each, when its class first comes to
     * one of its markers.
     */
    boolean subscribe(MarkerDescriptor descriptor);

    /** Whether {@link #passesBy} is asked at this marker. Asked when it subscribes. */
    default boolean filters(MarkerDescriptor descriptor) {
        return false;
    }

    /**
     * Whether it need not hear that a thread with this receiver is at the marker: before anything
     * else happens there, and only of who is the marker's one subscriber. What this calls must have
     * no markers.
     */
    default boolean passesBy(MarkerDescriptor descriptor, Object receiver) {
        return false;
    }

    /**
     * Whether it hears of this marker's entries alone, and asks nothing of who else the thread was
     * at: no {@link #markerExit}. Where all clients of a marker are simple, it is not put on the
     * marker stack, and its exits cost next to nothing. Asked when it subscribes.
     */
    default boolean isSimple(MarkerDescriptor descriptor) {
        return false;
    }

    /**
     * A thread is at the marker, or at the beginning of its region. The argument is valid until
     * this returns.
     */
    void markerEnter(Marker marker);

    /**
     * A thread leaves the region of a marker whose {@link #markerEnter} it heard. Not told where it
     * {@linkplain #isSimple is simple}.
     */
    default void markerExit(Marker marker) {}

    /** An object that was {@linkplain ObjectDeath#watch watched} is gone. */
    default void objectDeath(Object handback) {}

    /** A class has come to the first of its markers: this method of it has some. */
    default void methodLoaded(MethodDescriptor method) {}

    /** The program ends: what was found. */
    default void print(PrintStream out) {}
}
