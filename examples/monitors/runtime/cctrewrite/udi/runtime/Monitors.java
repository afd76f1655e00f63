package cctrewrite.udi.runtime;

import java.io.PrintStream;

/**
 * What the inserted code calls. Counting uses nothing of the class library: no method that could be
 * recorded, and none with code inserted. So it needs no bypass, only the question whether the
 * thread is in one. The report does.
 */
public final class Monitors {
    private static String[] names = new String[64];
    private static long[] counts = new long[64];
    private static int used;
    private static boolean reported;

    private Monitors() {}

    /**
     * A monitor is about to be entered by code of the class. Names are constants of classes, so
     * that equal ones are the same object.
     */
    public static void entered(String name) {
        if (!Bypass.active()) {
            count(name);
        }
    }

    private static synchronized void count(String name) {
        int at = 0;
        while (at < used && names[at] != name) {
            at++;
        }
        if (at == used) {
            if (used == names.length) {
                String[] moreNames = new String[2 * used];
                long[] moreCounts = new long[2 * used];
                for (int i = 0; i < used; i++) {
                    moreNames[i] = names[i];
                    moreCounts[i] = counts[i];
                }
                names = moreNames;
                counts = moreCounts;
            }
            names[used++] = name;
        }
        counts[at]++;
    }

    /** Writes the counts to the file that the property {@code monitors.out} names, once. */
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
        String file = System.getProperty("monitors.out");
        if (reported || file == null) {
            return;
        }
        reported = true;
        try {
            PrintStream out = new PrintStream(file, "UTF-8");
            for (int i = 0; i < used; i++) {
                out.println(counts[i] + " " + names[i]);
            }
            out.close();
        } catch (java.io.IOException e) {
            System.err.println(e);
        }
    }
}
