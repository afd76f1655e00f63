package cctrewrite.markers;

import java.lang.invoke.ForceInline;
import java.util.Arrays;

/**
 * The markers that a thread is in. Nobody but the thread comes here, so nothing is locked.
 *
 * <p>What is here is written at each marker, and so is made so that this is cheap: objects are used
 * again, so that nothing is allocated; the token of a region is its object, which leads here, so
 * that the thread is looked up once for both ends; a number is counted down for all that is due now
 * and then. One such thing is {@link #renew}: who writes a reference into an old object pays for it
 * with G1, a memory fence each time, and young objects are free of that.
 */
final class MarkerStack {
    final Thread thread;
    final Counts counts;
    /**
     * The level of the marker that comes next; the same below zero while a client runs, which hears
     * nothing of itself. So one number says whether there is anybody to be told and where, and one
     * is written before a client is called and one after.
     */
    int next = 1;
    /**
     * Where the thread is in its tree, as {@link Marker#context}; set before each marker where the
     * program is counted, too.
     */
    long context;
    /** How often it was not the one found first. */
    int misses;

    /** By levels; behind the last one that was needed they are null. */
    Marker[] frames = new Marker[8];

    MarkerStack(Thread thread, Counts counts) {
        this.thread = thread;
        this.counts = counts;
    }

    /** One that hears nothing. */
    static MarkerStack busy() {
        MarkerStack stack = new MarkerStack(null, Counts.none());
        stack.silence();
        return stack;
    }

    /**
     * A client runs, or what is none of the program's, until {@link #next} is what is returned
     * here.
     */
    int silence() {
        int before = next;
        if (before > 0) {
            next = -before;
        }
        return before;
    }

    /** Whether what is come to is not told. */
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

    /** The thread is in a region. What this returns goes to {@link #exit}. */
    Marker enter(Told told, Object receiver, Object[] arguments) {
        int at = next;
        if (at < 0) {
            counts.ofClients++;
            return null;
        }
        if (!told.isKept) {
            pass(told, receiver, arguments);
            return null;
        }
        Marker marker = marker(at, told, receiver, arguments);
        return tell(told, marker, at) ? marker : null;
    }

    /** The thread is at a place. */
    void at(Told told, Object receiver, Object[] arguments) {
        int at = next;
        if (at < 0) {
            counts.ofClients++;
            return;
        }
        if (!told.isInstant) {
            pass(told, receiver, arguments);
            return;
        }
        Marker marker = marker(at, told, receiver, arguments);
        if (tell(told, marker, at)) {
            leave(marker);
        }
    }

    private void pass(Told told, Object receiver, Object[] arguments) {
        int at = next;
        Marker marker = marker(at, told, receiver, arguments);
        tell(told, marker, at);
        next = at;
        forget(marker);
    }

    private Marker marker(int at, Told told, Object receiver, Object[] arguments) {
        Marker[] frames = this.frames;
        Marker marker = at < frames.length ? frames[at] : null;
        if (--counts.left < 0 || marker == null) {
            marker = make(at);
        }
        marker.told = told;
        marker.receiver = receiver;
        marker.context = context;
        if (arguments != null) {
            marker.arguments = arguments;
        }
        if (Counts.BY_MARKER) {
            counts.entered(told.descriptor.number);
        }
        return marker;
    }

    /**
     * Tells the clients of an entry. The program may have left no stack for that: who has not heard
     * of it hears nothing of the exit either, and nothing is called any more here, which would end
     * as the handler did. Whether somebody waits for the exit.
     */
    private boolean tell(Told told, Marker marker, int at) {
        int heard = 0;
        next = -1 - at;
        try {
            Client single = told.single;
            if (single != null) {
                heard = enter(single, marker) ? 1 : 0;
            } else {
                Client[] clients = told.clients;
                while (heard < clients.length && enter(clients[heard], marker)) {
                    heard++;
                }
            }
        } catch (StackOverflowError noRoom) {
            // Not even to come to the handler, or to what else catches this.
        } finally {
            next = at + 1;
        }
        int missing = told.clients.length - heard;
        if (missing == 0) {
            return told.isKept;
        }
        counts.overflows += missing;
        Told rest = told;
        while (rest != null && rest.clients.length > heard) {
            rest = rest.shorter;
        }
        if (rest == null || !rest.isKept) {
            next = at;
            marker.receiver = null;
            marker.arguments = null;
            return false;
        }
        marker.told = rest;
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

    /** The object for a depth, where there is none, or the time has come to make them anew. */
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
            // Who has it for a token is led on by its level.
            old.depth = -1;
        }
        frames = young;
    }

    /** The thread leaves the region, and whatever is in it that it left unseen. */
    void exit(Marker marker, boolean byException) {
        if (marker.depth == depth()) {
            marker.byException = byException;
            leave(marker);
        } else {
            exitTo(marker.level, byException);
        }
    }

    /** The same where an object has come to be. */
    void exit(Marker marker, Object receiver) {
        if (marker.level <= depth()) {
            frames[marker.level].receiver = receiver;
        }
        exit(marker, false);
    }

    /** The same with what is returned. */
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
            Told told = marker.told;
            Client single = told.singleLeaving;
            if (single != null) {
                exit(single, marker);
                left = 0;
            } else {
                Client[] leaving = told.leaving;
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

    /** Nothing is kept alive for having been here. */
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
