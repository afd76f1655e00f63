package cctrewrite.markers;

import java.util.Arrays;

/** The markers that a thread is in. Nobody but the thread comes here, so nothing is locked. */
final class MarkerStack {
    final Thread thread;
    final Counts counts;
    /** Whether a client runs: it hears nothing of itself. */
    boolean inClient;

    private Marker[] frames = new Marker[16];
    private int depth;

    MarkerStack(Thread thread, Counts counts) {
        this.thread = thread;
        this.counts = counts;
        fill(0);
    }

    /** One that hears nothing. */
    static MarkerStack busy() {
        MarkerStack stack = new MarkerStack(null, Counts.none());
        stack.inClient = true;
        return stack;
    }

    private void fill(int from) {
        for (int i = from; i < frames.length; i++) {
            frames[i] = new Marker(this, i);
        }
    }

    Marker frame(int depth) {
        return frames[depth];
    }

    int depth() {
        return depth;
    }

    /** The innermost marker; {@code null} if there is none. */
    Marker top() {
        return depth > 0 ? frames[depth] : null;
    }

    /** The thread is in a region. What this returns goes to {@link #exit}. */
    int enter(MarkerDescriptor descriptor, Client[] clients, Object receiver, Object[] arguments) {
        int at = depth + 1;
        if (at == frames.length) {
            grow();
        }
        Marker marker = frames[at];
        marker.descriptor = descriptor;
        marker.receiver = receiver;
        if (arguments != null) {
            marker.arguments = arguments;
        }
        marker.clients = clients;
        depth = at;
        inClient = true;
        counts.entered(descriptor.number);
        try {
            for (int i = 0; i < clients.length; i++) {
                try {
                    if (Clients.listens(clients[i])) {
                        clients[i].markerEnter(marker);
                    }
                } catch (Throwable thrown) {
                    Clients.threw(clients[i], thrown, counts);
                }
            }
        } finally {
            inClient = false;
        }
        return at;
    }

    private void grow() {
        inClient = true;
        try {
            int from = frames.length;
            frames = Arrays.copyOf(frames, 2 * from);
            fill(from);
        } finally {
            inClient = false;
        }
    }

    /** The thread leaves the region, and whatever is in it that it left unseen. */
    void exit(int token, Object receiver, boolean byException) {
        while (depth >= token) {
            Marker marker = frames[depth];
            Client[] clients = marker.clients;
            if (receiver != null && depth == token) {
                marker.receiver = receiver;
            }
            marker.byException = byException;
            inClient = true;
            try {
                for (int i = clients.length; --i >= 0;) {
                    try {
                        if (Clients.listens(clients[i])) {
                            clients[i].markerExit(marker);
                        }
                    } catch (Throwable thrown) {
                        Clients.threw(clients[i], thrown, counts);
                    }
                }
            } finally {
                inClient = false;
                depth--;
                forget(marker);
            }
        }
    }

    /** What a region that is about to be left returns. */
    void returned(int token, Object result) {
        if (depth >= token) {
            frames[token].result = result;
        }
    }

    /** The thread is at a place. */
    void at(MarkerDescriptor descriptor, Client[] clients, Object receiver, Object[] arguments) {
        int at = enter(descriptor, clients, receiver, arguments);
        Marker marker = frames[at];
        depth = at - 1;
        forget(marker);
    }

    /** Nothing is kept alive for having been here. */
    private static void forget(Marker marker) {
        marker.receiver = null;
        if (marker.arguments != null) {
            marker.arguments = null;
        }
        marker.result = null;
        marker.byException = false;
    }
}
