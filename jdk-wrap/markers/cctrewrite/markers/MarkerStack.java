package cctrewrite.markers;

import java.lang.invoke.ForceInline;
import java.util.Arrays;

/**
 * The markers that a thread is in. Only the thread itself uses this object, so it needs no lock.
 *
 * <p>Each marker writes to this object, so that must be cheap, for which there are three means. The
 * stack reuses its objects, so it does not allocate. The token of a region is one of these objects
 * and leads back here, so both ends of a region look up the thread only once. One counter is
 * counted down for all work that is due from time to time.
 *
 * <p>One such work is {@link #renew}. With G1, each store of a reference into an old object costs a
 * memory fence. Stores into young objects do not.
 */
final class MarkerStack {
    final Thread thread;
    final Counts counts;
    /**
     * The level of the next marker; its negation while a client runs, which is not notified of its
     * own actions. So one number shows whether clients are to be notified, and at which level. The
     * code writes it only once before and once after a client's call.
     */
    int next = 1;
    /**
     * The thread's position in its tree, as {@link Marker#context}. Set before each marker if the
     * program is also counted.
     */
    long context;
    /** How often {@link Stacks} did not find this stack at the first test. */
    int misses;

    /** The markers by level. After the largest level so far the elements are null. */
    Marker[] frames = new Marker[8];

    MarkerStack(Thread thread, Counts counts) {
        this.thread = thread;
        this.counts = counts;
    }

    /** A stack for which clients are never notified. */
    static MarkerStack busy() {
        MarkerStack stack = new MarkerStack(null, Counts.none());
        stack.silence();
        return stack;
    }

    /**
     * Stops notifications: a client runs, or other code that is not the program's. They continue
     * when {@link #next} gets this result.
     */
    int silence() {
        int before = next;
        if (before > 0) {
            next = -before;
        }
        return before;
    }

    /** Whether clients are not notified now. */
    boolean isSilent() {
        return next < 0;
    }

    private int depth() {
        return Math.abs(next) - 1;
    }

    Marker frame(int depth) {
        return frames[depth];
    }

    /** The innermost marker; {@code null} if there is none. */
    Marker top() {
        int depth = depth();
        return depth > 0 ? frames[depth] : null;
    }

    /** The thread is at the start of a region. The result is the argument of {@link #exit}. */
    Marker enter(Listeners listeners, Object receiver, Object[] arguments) {
        int at = next;
        if (at < 0) {
            counts.ofClients++;
            return null;
        }
        if (!listeners.isKept) {
            pass(listeners, receiver, arguments);
            return null;
        }
        Marker marker = marker(at, listeners, receiver, arguments);
        return notifyClients(listeners, marker, at) ? marker : null;
    }

    /** The thread is at a single location. */
    void at(Listeners listeners, Object receiver, Object[] arguments) {
        int at = next;
        if (at < 0) {
            counts.ofClients++;
            return;
        }
        if (!listeners.isInstant) {
            pass(listeners, receiver, arguments);
            return;
        }
        Marker marker = marker(at, listeners, receiver, arguments);
        if (notifyClients(listeners, marker, at)) {
            leave(marker);
        }
    }

    private void pass(Listeners listeners, Object receiver, Object[] arguments) {
        int at = next;
        Marker marker = marker(at, listeners, receiver, arguments);
        notifyClients(listeners, marker, at);
        next = at;
        forget(marker);
    }

    private Marker marker(int at, Listeners listeners, Object receiver, Object[] arguments) {
        Marker[] frames = this.frames;
        Marker marker = at < frames.length ? frames[at] : null;
        if (--counts.left < 0 || marker == null) {
            marker = make(at);
        }
        marker.listeners = listeners;
        marker.receiver = receiver;
        marker.context = context;
        if (arguments != null) {
            marker.arguments = arguments;
        }
        if (Counts.BY_MARKER) {
            counts.entered(listeners.descriptor.number);
        }
        return marker;
    }

    /**
     * Notifies the clients of an entry. The program may have left no stack for that. A client that
     * missed the entry is not notified of the exit, either. After an overflow this code calls
     * nothing more, since the call would overflow as the handler did. Returns whether a client
     * waits for the exit.
     */
    private boolean notifyClients(Listeners listeners, Marker marker, int at) {
        int heard = 0;
        next = -1 - at;
        try {
            Client single = listeners.single;
            if (single != null) {
                heard = enter(single, marker) ? 1 : 0;
            } else {
                Client[] clients = listeners.clients;
                while (heard < clients.length && enter(clients[heard], marker)) {
                    heard++;
                }
            }
        } catch (StackOverflowError noRoom) {
            // There was no stack for the call of the handler, or for the code that catches its
            // exceptions.
        } finally {
            next = at + 1;
        }
        int missing = listeners.clients.length - heard;
        if (missing == 0) {
            return listeners.isKept;
        }
        counts.overflows += missing;
        Listeners rest = listeners;
        while (rest != null && rest.clients.length > heard) {
            rest = rest.shorter;
        }
        if (rest == null || !rest.isKept) {
            next = at;
            marker.receiver = null;
            marker.arguments = null;
            return false;
        }
        marker.listeners = rest;
        return true;
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    boolean enter(Client client, Marker marker) {
        try {
            if (Clients.listens(client)) {
                client.markerEnter(marker);
            }
        } catch (StackOverflowError noRoom) {
            return false;
        } catch (Throwable thrown) {
            Clients.threw(client, thrown, counts);
        }
        return true;
    }

    /** Creates the object for a depth, if there is none, or renews all of them, if that is due. */
    private Marker make(int at) {
        int before = silence();
        try {
            if (at >= frames.length) {
                frames = Arrays.copyOf(frames, 2 * frames.length);
            }
            if (counts.left < 0) {
                counts.refill(64 * frames.length);
                renew();
            }
            if (frames[at] == null) {
                frames[at] = new Marker(this, at);
            }
            return frames[at];
        } finally {
            next = before;
        }
    }

    /** Replaces the objects, which may have become old, by new ones. */
    private void renew() {
        Marker[] young = new Marker[frames.length];
        for (int i = depth(); i > 0; i--) {
            Marker old = frames[i];
            young[i] = old.copy();
            // Code that holds the old object as a token finds the new one by its level.
            old.depth = -1;
        }
        frames = young;
    }

    /** The thread leaves the region, and all inner regions whose end was not seen. */
    void exit(Marker marker, boolean byException) {
        if (marker.depth == depth()) {
            marker.byException = byException;
            leave(marker);
        } else {
            exitTo(marker.level, byException);
        }
    }

    /** The thread leaves the region of a constructor; {@code receiver} is the new object. */
    void exit(Marker marker, Object receiver) {
        if (marker.level <= depth()) {
            frames[marker.level].receiver = receiver;
        }
        exit(marker, false);
    }

    /** The thread leaves the region and returns {@code result}. */
    void returned(Marker marker, Object result) {
        if (marker.level <= depth()) {
            frames[marker.level].result = result;
        }
        exit(marker, false);
    }

    private void exitTo(int level, boolean byException) {
        for (int depth = depth(); depth >= level; depth--) {
            Marker marker = frames[depth];
            marker.byException = byException;
            leave(marker);
        }
    }

    private void leave(Marker marker) {
        int at = depth();
        int left = 1;
        next = -1 - at;
        try {
            Listeners listeners = marker.listeners;
            Client single = listeners.singleLeaving;
            if (single != null) {
                exit(single, marker);
                left = 0;
            } else {
                Client[] leaving = listeners.leaving;
                for (left = leaving.length; left > 0; left--) {
                    exit(leaving[left - 1], marker);
                }
            }
        } catch (StackOverflowError noRoom) {
            counts.overflows += left;
        } finally {
            next = at;
            forget(marker);
        }
    }

    @ForceInline
    @jdk.internal.vm.annotation.ForceInline
    void exit(Client client, Marker marker) {
        try {
            if (Clients.listens(client)) {
                client.markerExit(marker);
            }
        } catch (Throwable thrown) {
            Clients.threw(client, thrown, counts);
        }
    }

    /** Clears references, so that the stack keeps no object alive. */
    private static void forget(Marker marker) {
        marker.receiver = null;
        if (marker.arguments != null) {
            marker.arguments = null;
        }
        if (marker.result != null) {
            marker.result = null;
        }
        marker.byException = false;
    }
}
