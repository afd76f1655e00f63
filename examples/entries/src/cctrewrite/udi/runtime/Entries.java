package cctrewrite.udi.runtime;

import java.io.PrintStream;
import java.util.TreeMap;

/**
 * What the inserted code calls. It uses a map of the class library, whose methods have the same
 * code inserted: without the bypass the first entry would never end, and all of it would be in the
 * profile.
 */
public final class Entries {
    private static TreeMap<String, long[]> counts;
    private static boolean reported;

    private Entries() {}

    /** A method of the class has been entered. */
    public static void entered(String name) {
        if (Bypass.active()) {
            return;
        }
        long before = Bypass.begin();
        try {
            count(name);
        } finally {
            Bypass.end(before);
        }
    }

    private static synchronized void count(String name) {
        if (counts == null) {
            counts = new TreeMap<String, long[]>();
        }
        long[] count = counts.get(name);
        if (count == null) {
            count = new long[1];
            counts.put(name, count);
        }
        count[0]++;
    }

    /**
     * Writes the counts to the file that the property {@code entries.out} names, or their sum to
     * standard error. Once: a JVM has two ways to end.
     */
    public static void report() {
        if (Bypass.active()) {
            return;
        }
        long before = Bypass.begin();
        try {
            write();
        } finally {
            Bypass.end(before);
        }
    }

    private static synchronized void write() {
        if (reported || counts == null) {
            return;
        }
        reported = true;
        String file = System.getProperty("entries.out");
        long sum = 0;
        StringBuilder text = new StringBuilder();
        for (String name : counts.keySet()) {
            long count = counts.get(name)[0];
            sum += count;
            text.append(count).append(' ').append(name).append('\n');
        }
        if (file == null) {
            System.err.println(sum + " entries of methods in " + counts.size() + " classes");
            return;
        }
        try {
            PrintStream out = new PrintStream(file, "UTF-8");
            try {
                out.print(text);
            } finally {
                out.close();
            }
        } catch (java.io.IOException e) {
            System.err.println(e);
        }
    }
}
