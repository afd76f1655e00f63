package cctrewrite.runtime;

/** The {@code -Dcctrewrite.*} properties, as they were when first looked at. In bypass. */
public final class Settings {
    /** Exit code when the JVM is stopped because of what the user put together: {@code EX_SOFTWARE} of sysexits.h. */
    public static final int EXIT = 70;

    /** Default of {@code cctrewrite.agent}. */
    public static final String DEFAULT_AGENT = "cctrewrite.agent.AggregatingAgent";

    /** {@code cctrewrite.out}: the profile's file, {@code %p} being the process id; null for the default. */
    public static final String OUT = System.getProperty("cctrewrite.out");

    /** {@code cctrewrite.agent}: the profiling agent's class. */
    public static final String AGENT = System.getProperty("cctrewrite.agent", DEFAULT_AGENT);

    /** {@code cctrewrite.raw}: {@code refuse}, {@code warn} or {@code allow}. */
    public static final String RAW = System.getProperty("cctrewrite.raw", "refuse");

    /** {@code cctrewrite.threads}: {@code each} gives every thread a tree of its own. */
    public static final String THREADS = System.getProperty("cctrewrite.threads", "lease");

    /** {@code cctrewrite.max}: MiB for all trees together; null for no limit. */
    public static final String MAX = System.getProperty("cctrewrite.max");

    /** {@code cctrewrite.depth}: how many frames an exception's trace has at most; null for the JVM's default, -1 for no limit. */
    public static final String DEPTH = System.getProperty("cctrewrite.depth");

    private Settings() {}

    /**
     * Puts the settings into effect.
     *
     * @return what is wrong with them, or null
     */
    static String apply() {
        if (!RAW.equals("refuse") && !RAW.equals("warn") && !RAW.equals("allow")) {
            return "-Dcctrewrite.raw=" + RAW + ": choose refuse, warn or allow";
        }
        if (!THREADS.equals("lease") && !THREADS.equals("each")) {
            return "-Dcctrewrite.threads=" + THREADS + ": choose lease or each";
        }
        if (DEPTH != null) {
            try {
                CctTraces.limit(Integer.parseInt(DEPTH));
            } catch (NumberFormatException e) {
                return "-Dcctrewrite.depth=" + DEPTH + ": a number of frames is expected";
            }
        }
        Threads.leasing(THREADS.equals("lease"));
        if (MAX != null) {
            try {
                CctMemory.limit(Long.parseLong(MAX) << 20);
            } catch (NumberFormatException e) {
                return "-Dcctrewrite.max=" + MAX + ": a number of MiB is expected";
            }
        }
        return null;
    }

    /** One line on standard error. */
    static void say(String message) {
        System.err.println("cctrewrite: " + message);
    }

    /** Says why, and stops the JVM without a profile. */
    static void stop(String message) {
        say(message);
        Finish.abandon();
        Runtime.getRuntime().halt(EXIT);
    }
}
