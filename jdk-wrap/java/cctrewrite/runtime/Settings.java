package cctrewrite.runtime;

/** The {@code -Dcctrewrite.*} properties, read once. In bypass. */
public final class Settings {
    /**
     * Exit code if the runtime stops the JVM because of the user's configuration:
     * {@code EX_SOFTWARE} of sysexits.h.
     */
    public static final int EXIT = 70;

    /** Default of {@code cctrewrite.agent}. */
    public static final String DEFAULT_AGENT = "cctrewrite.agent.AggregatingAgent";

    /**
     * {@code cctrewrite.out}: the profile's file, in which {@code %p} is the process id; null for
     * the default.
     */
    public static final String OUT = System.getProperty("cctrewrite.out");

    /** {@code cctrewrite.agent}: the profiling agent's class. */
    public static final String AGENT = System.getProperty("cctrewrite.agent", DEFAULT_AGENT);

    /** {@code cctrewrite.raw}: {@code refuse}, {@code warn} or {@code allow}. */
    public static final String RAW = System.getProperty("cctrewrite.raw", "refuse");

    /** {@code cctrewrite.threads}: {@code each} gives every thread a tree of its own. */
    public static final String THREADS = System.getProperty("cctrewrite.threads", "lease");

    /** {@code cctrewrite.max}: MiB for all trees together; null for no limit. */
    public static final String MAX = System.getProperty("cctrewrite.max");

    /**
     * {@code cctrewrite.depth}: maximum number of frames of an exception's stack trace; null for
     * the JVM's default, -1 for no limit.
     */
    public static final String DEPTH = System.getProperty("cctrewrite.depth");

    /** {@code cctrewrite.record}: {@code on}, {@code off} or {@code regions}. */
    public static final String RECORD = of("record", "on");

    /**
     * {@code cctrewrite.extent}: methods, separated by commas. The runtime records only what runs
     * in or below them; null for no such rule.
     */
    public static final String EXTENT = of("extent", null);

    /**
     * {@code cctrewrite.start-at}: methods, separated by commas. The recording starts at the first
     * entry of one of them; null to start at the beginning.
     */
    public static final String START_AT = of("start-at", null);

    /**
     * {@code cctrewrite.include}, {@code cctrewrite.exclude}: globs, separated by commas, which
     * select those classes rewritten at load time that are recorded.
     */
    public static final String INCLUDE = of("include", null);
    public static final String EXCLUDE = of("exclude", null);

    /**
     * {@code cctrewrite.identity}: {@code name}, or {@code loader} to distinguish classes of one
     * name by the loaders that define them.
     */
    public static final String IDENTITY = of("identity", "name");

    /**
     * {@code cctrewrite.udi}: the user's module, which gets classes before they are rewritten at
     * load time (docs/research/udi.md); null for none.
     */
    public static final String UDI = of("udi", null);

    /**
     * {@code cctrewrite.udi-java}: the home of the JDK that the module runs on. Null for
     * {@code JAVA_HOME}, or else the {@code java} on the {@code PATH}.
     */
    public static final String UDI_JAVA = of("udi-java", null);

    /** {@code cctrewrite.udi-timeout}: maximum time of the module for one class, in seconds. */
    public static final String UDI_TIMEOUT = of("udi-timeout", "60");

    /**
     * {@code cctrewrite.max-contexts}: maximum number of contexts of all threads together; null for
     * no bound.
     */
    public static final String MAX_CONTEXTS = of("max-contexts", null);

    /**
     * {@code cctrewrite.recursion}: {@code unbounded}, {@code fold}, or how often a method may be
     * on a path.
     */
    public static final String RECURSION = of("recursion", "unbounded");

    /**
     * {@code cctrewrite.system-threads}: {@code no} excludes the JVM's own threads, as when the
     * cycles of another machine are counted. An option of {@code cctrewrite run} precedes the value
     * that is built into an image.
     */
    public static final String SYSTEM_THREADS = systemThreads();

    private static final String MEMORY_EXPECTED = ": a number of MiB is expected, 1 or more";

    private Settings() {}

    /**
     * The value of the property {@code cctrewrite.key}, else of the option of {@code cctrewrite
     * run}, else the default.
     */
    private static String of(String key, String otherwise) {
        String given = System.getProperty("cctrewrite." + key);
        if (given == null) {
            given = LoadTime.said(key);
        }
        return given != null ? given : otherwise;
    }

    private static String systemThreads() {
        String said = LoadTime.said("system-threads");
        return said != null ? said : System.getProperty("cctrewrite.system-threads", "yes");
    }

    /**
     * Applies the settings that must be known before there is a tree. {@link #apply} reports their
     * errors.
     */
    public static void early() {
        if (MAX_CONTEXTS != null) {
            Bound.set(contexts());
        }
        Threads.leaveOutSystem(SYSTEM_THREADS.equals("no"));
        int times = recursion();
        if (times > 0) {
            Tree.fold(times);
            if (LoadTime.loaded()) {
                LoadTime.fold();
            }
        }
    }

    /** {@link #RECURSION} as a number; 0 for no bound, -1 for an invalid value. */
    private static int recursion() {
        if (RECURSION.equals("unbounded")) {
            return 0;
        }
        if (RECURSION.equals("fold")) {
            return 1;
        }
        try {
            int times = Integer.parseInt(RECURSION);
            return times < 1 ? -1 : times;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** The recursion bound for the profile's description; null if there is no bound. */
    static String folded() {
        int times = recursion();
        return times > 0 ? Integer.toString(times) : null;
    }

    /** {@link #MAX_CONTEXTS} as a number; 0 for an invalid value. */
    private static long contexts() {
        long contexts = Decimal.of(MAX_CONTEXTS, 0L);
        return contexts < 1L ? 0L : contexts;
    }

    /**
     * Applies the settings.
     *
     * @return an error, or null
     */
    static String apply() {
        if (!RAW.equals("refuse") && !RAW.equals("warn") && !RAW.equals("allow")) {
            return "-Dcctrewrite.raw=" + RAW + ": choose refuse, warn or allow";
        }
        if (!RECORD.equals("on") && !RECORD.equals("off") && !RECORD.equals("regions")) {
            return "-Dcctrewrite.record=" + RECORD + ": choose on, off or regions";
        }
        if (!IDENTITY.equals("name") && !IDENTITY.equals("loader")) {
            return "-Dcctrewrite.identity=" + IDENTITY + ": choose name or loader";
        }
        if (!SYSTEM_THREADS.equals("yes") && !SYSTEM_THREADS.equals("no")) {
            return "-Dcctrewrite.system-threads=" + SYSTEM_THREADS + ": choose yes or no";
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
        if (MAX_CONTEXTS != null && contexts() == 0L) {
            return "-Dcctrewrite.max-contexts=" + MAX_CONTEXTS
                    + ": a number of contexts is expected, 1 or more";
        }
        if (recursion() < 0) {
            return "-Dcctrewrite.recursion=" + RECURSION
                    + ": choose unbounded, fold, or how often a method may be on a path, 1 or more";
        }
        Threads.leasing(THREADS.equals("lease"));
        if (MAX != null) {
            long mebibytes = Decimal.of(MAX, 0L);
            if (mebibytes < 1L || mebibytes > Long.MAX_VALUE >> 20) {
                return "-Dcctrewrite.max=" + MAX + MEMORY_EXPECTED;
            }
            CctMemory.limit(mebibytes << 20);
        }
        return null;
    }

    /** Prints one line on standard error. */
    static void say(String message) {
        System.err.println("cctrewrite: " + message);
    }

    /** Prints the reason and stops the JVM without a profile. */
    static void stop(String message) {
        say(message);
        Finish.abandon();
        Arena.end();
        Runtime.getRuntime().halt(EXIT);
    }
}
