package cctrewrite.markers;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Paths;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Map;

/** The end of the run: the clients' results, and the number of notifications. */
final class End {
    /**
     * How long a halting JVM waits for the clients. The thread that halts it may hold a lock that a
     * client needs.
     */
    private static final long PATIENCE_MS = 5000;

    private static volatile boolean isPrepared;
    private static boolean isPrinted;

    private End() {}

    /**
     * {@link #print} for a thread, with the runtime's own permissions: a security policy may forbid
     * the program to write the file. Clients keep their own permissions.
     */
    static final class Printing implements Runnable {
        @Override
        public void run() {
            AccessController.doPrivileged(new Privileged());
        }
    }

    static final class Privileged implements PrivilegedAction<Object> {
        @Override
        public Object run() {
            print();
            return null;
        }
    }

    static void prepare() {
        isPrepared = true;
        Boot.begin();
    }

    /** The JVM is about to be halted, or has reached its end. */
    static void halting() {
        if (!isPrepared) {
            return;
        }
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        try {
            Thread thread = new Thread(new Printing(), "cctrewrite markers at the halt");
            thread.setDaemon(true);
            thread.start();
            thread.join(PATIENCE_MS);
        } catch (InterruptedException | OutOfMemoryError end) {
            // The JVM halts anyway.
        } finally {
            stack.next = before;
        }
    }

    /** Prints the results, once. Another thread that calls this meanwhile waits for the end. */
    static synchronized void print() {
        if (isPrinted) {
            return;
        }
        isPrinted = true;
        Stacks.current().silence();
        String file = Options.place("markers", "");
        PrintStream out = System.err;
        if (!file.isEmpty()) {
            try {
                out = new PrintStream(PrivateFile.create(Paths.get(file)));
            } catch (IOException | InvalidPathException problem) {
                System.err.println("cctrewrite: markers: cannot write " + file + " (" + problem
                        + "); what clients print goes here");
            }
        }
        for (Client client : Clients.all()) {
            try {
                client.print(out);
            } catch (Throwable thrown) {
                Clients.threw(client, thrown, null);
            }
        }
        summary(out);
        out.flush();
        if (out != System.err) {
            out.close();
        }
    }

    private static void summary(PrintStream out) {
        Counts sum = Counts.sum();
        if (Counts.BY_MARKER) {
            for (MarkerTable table : Clients.tables()) {
                for (MarkerDescriptor descriptor : table.descriptors()) {
                    out.println("cctrewrite: markers: " + sum.of(descriptor.number) + " "
                            + descriptor.owner().getName() + " " + descriptor.index + " "
                            + descriptor);
                }
            }
        }
        out.println("cctrewrite: markers: " + sum.delivered() + " delivered, of " + Clients.known()
                + " markers in classes that came to one");
        String placed = Image.placed();
        if (placed != null) {
            out.println("cctrewrite: markers: " + placed);
        }
        for (String note : Image.notes()) {
            out.println("cctrewrite: markers: " + note);
        }
        say(out, Gate.earlyEvents() + Boot.early(), "not delivered before the JVM had booted");
        say(out, sum.ofClients, "not delivered, since clients came there themselves");
        say(out, sum.ofWaking, "not delivered in the JVM's thread that wakes virtual threads");
        say(out, sum.overflows,
                "not heard by a client, since the program had left no stack for it");
        if (out != System.err) {
            // Repeat these errors: the user may have missed them on standard error.
            for (String missing : Clients.missing()) {
                out.println("cctrewrite: markers: " + missing);
            }
        }
        for (Map.Entry<Client, Throwable> failed : Clients.failed().entrySet()) {
            out.println("cctrewrite: markers: client " + failed.getKey().getClass().getName()
                    + " threw " + failed.getValue()
                    + " and gets no more notifications");
            failed.getValue().printStackTrace(out);
        }
    }

    private static void say(PrintStream out, long count, String what) {
        if (count > 0) {
            out.println("cctrewrite: markers: " + count + " " + what);
        }
    }
}
