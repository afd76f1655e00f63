package cctrewrite.markers;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Switches markers from outside. {@code -Dcctrewrite.markers.control=FILE} names a file of lines
 * {@code on TOKEN} and {@code off TOKEN}. The runtime reads it whenever it changes. A token that no
 * line names keeps its state.
 */
final class Control implements Runnable {
    private static final long INTERVAL_MS = 100;

    /** The comma-separated words of an option. */
    static List<String> words(String key) {
        List<String> words = new ArrayList<>();
        for (String word : Options.get(key, "").split(",")) {
            if (!word.trim().isEmpty()) {
                words.add(word.trim());
            }
        }
        return words;
    }

    private final File file;
    /** The text that was applied last. */
    private String last = "";

    private Control(File file) {
        this.file = file;
    }

    /** Starts to watch the file. Its lines at the start apply from the first marker on. */
    static void start() {
        String name = Options.get("markers.control", "");
        if (name.isEmpty()) {
            return;
        }
        Control control = new Control(new File(name));
        if (!control.look()) {
            return;
        }
        Thread thread = Boot.apart(new Thread(control, "cctrewrite markers control"));
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        Stacks.current().silence();
        try {
            do {
                Thread.sleep(INTERVAL_MS);
            } while (look());
        } catch (InterruptedException end) {
            // The JVM ends.
        }
    }

    /** Reads the file. Returns false if it cannot be read. (It may also not exist yet.) */
    private boolean look() {
        try {
            String text = file.isFile()
                    ? new String(Files.readAllBytes(file.toPath()), StandardCharsets.UTF_8) : last;
            // Ignore an incomplete line; the next read will find it complete.
            if (!text.equals(last) && (text.isEmpty() || text.endsWith("\n"))) {
                last = text;
                obey(text);
            }
            return true;
        } catch (IOException problem) {
            System.err.println("cctrewrite: markers: " + file + ": " + problem
                    + "; nothing more is read of it");
            return false;
        }
    }

    private static void obey(String text) {
        for (String line : text.split("\n")) {
            String[] words = line.trim().split("\\s+", 2);
            if (words.length == 2 && (words[0].equals("on") || words[0].equals("off"))) {
                Clients.enable(words[1], words[0].equals("on"));
            } else if (!line.trim().isEmpty()) {
                System.err.println("cctrewrite: markers: control: '" + line.trim()
                        + "' is neither 'on TOKEN' nor 'off TOKEN'");
            }
        }
    }
}
