package cctrewrite.markers;

import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.Map;

/** The end of the run: what clients found, and how often there was something to tell. */
final class End {
    private End() {}

    static void prepare() {
        Runtime.getRuntime().addShutdownHook(new Thread(End::print, "cctrewrite markers"));
    }

    private static void print() {
        Stacks.current().inClient = true;
        String file = System.getProperty("cctrewrite.markers.out", "");
        PrintStream out = System.err;
        if (!file.isEmpty()) {
            try {
                out = new PrintStream(new FileOutputStream(file));
            } catch (FileNotFoundException problem) {
                System.err.println("cctrewrite: markers: " + problem.getMessage() + ": cannot be written; what clients print goes here");
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
                            + descriptor.owner().getName() + " " + descriptor.index + " " + descriptor);
                }
            }
        }
        out.println("cctrewrite: markers: " + sum.delivered() + " delivered, of " + Clients.known() + " markers in classes that came to one");
        say(out, Gate.earlyEvents(), "not delivered before the JVM had booted");
        say(out, sum.ofClients, "not delivered, since clients came there themselves");
        say(out, sum.overflows, "not heard by a client, since the program had left no stack for it");
        for (Map.Entry<Client, Throwable> failed : Clients.failed().entrySet()) {
            out.println("cctrewrite: markers: client " + failed.getKey().getClass().getName() + " threw " + failed.getValue()
                    + " and was told nothing more");
            failed.getValue().printStackTrace(out);
        }
    }

    private static void say(PrintStream out, long count, String what) {
        if (count > 0) {
            out.println("cctrewrite: markers: " + count + " " + what);
        }
    }
}
