package cctrewrite.api;

/**
 * Calls and bytecodes that a thread has executed, read while the program runs.
 *
 * <pre>
 * Counts work = Counts.of(() -&gt; parser.parse(text));
 * assert work.bytecodes() &lt;= 120_000;
 * </pre>
 *
 * <p>On a JDK that is not profiled nothing is counted: {@link #isRecorded} returns false, and all
 * numbers are 0. The methods of this class are not counted themselves. Reading takes time in
 * proportion to the number of contexts of the thread: some milliseconds for 100,000.
 */
public final class Counts {
    // The thread whose trees are read (cctrewrite.runtime.ThreadCounts).
    private static final int OWN = 0;
    private static final int OTHERS = 1;

    // The array from the runtime: flags, then three numbers for each method, sorted by id.
    private static final int FLAGS = 0;
    private static final int ROWS = 1;
    private static final int ROW = 3;
    private static final int CALLS = 1;
    private static final int BYTECODES = 2;
    private static final long NO_BYTECODES = 1L;
    private static final long MERGED = 2L;

    private static final Method[] NONE = new Method[0];

    /** Null if nothing is recorded. */
    private final long[] numbers;

    private Counts(long[] numbers) {
        this.numbers = numbers;
    }

    /**
     * Work to be counted.
     *
     * @param <E> what it throws
     */
    public interface Body<E extends Throwable> {
        /** Does the work. */
        void run() throws E;
    }

    /** What one method has executed itself, without the methods that it calls. */
    public static final class Method {
        private final String className;
        private final String name;
        private final String descriptor;
        private final long calls;
        private final long bytecodes;

        Method(String className, String name, String descriptor, long calls, long bytecodes) {
            this.className = className;
            this.name = name;
            this.descriptor = descriptor;
            this.calls = calls;
            this.bytecodes = bytecodes;
        }

        /**
         * The class's binary name, with dots; "?" if no loaded class has the method.
         */
        public String className() {
            return className;
        }

        /** The method's name, as in the class file. */
        public String name() {
            return name;
        }

        /** The method's descriptor (JVMS 4.3.3). */
        public String descriptor() {
            return descriptor;
        }

        /** How often the method was entered. */
        public long calls() {
            return calls;
        }

        /** Bytecodes that the method executed itself. */
        public long bytecodes() {
            return bytecodes;
        }
    }

    /** Whether the current thread is recorded, so that counts can be read. */
    public static boolean areRecorded() {
        return read(null, OWN) != null;
    }

    /**
     * Runs work in the current thread and counts what it executes, callees included.
     *
     * @param body the work
     * @return its calls and bytecodes in this thread
     * @throws E what the work throws; then there are no counts
     */
    public static <E extends Throwable> Counts of(Body<E> body) throws E {
        Object before = read(null, OWN);
        body.run();
        Object after = read(null, OWN);
        return new Counts(difference((long[]) after, (long[]) before));
    }

    /** Everything that the current thread has executed so far. */
    public static Counts soFar() {
        return new Counts((long[]) read(null, OWN));
    }

    /**
     * What the current thread has executed so far in a method and below it, from any caller.
     *
     * @param method the class's binary name, a dot and the method's name, with or without
     *     descriptor: {@code com.acme.Parser.parse} means all of its overloads
     */
    public static Counts below(String method) {
        return new Counts((long[]) read(method, OWN));
    }

    /**
     * Everything that all other threads have executed so far, ended ones included, without the
     * JVM's own threads. A thread that is running meanwhile may be read between two of its
     * bytecodes.
     */
    public static Counts ofOtherThreads() {
        return new Counts((long[]) read(null, OTHERS));
    }

    /**
     * What all other threads have executed so far in a method and below it, from any caller, ended
     * threads included, the JVM's own not.
     *
     * @param method as for {@link #below}
     */
    public static Counts belowInOtherThreads(String method) {
        return new Counts((long[]) read(method, OTHERS));
    }

    /**
     * What came after an earlier reading.
     *
     * @param earlier a reading by the same method, of the same thread
     */
    public Counts since(Counts earlier) {
        return new Counts(difference(numbers, earlier.numbers));
    }

    /** Whether anything was recorded. Otherwise all numbers are 0. */
    public boolean isRecorded() {
        return numbers != null;
    }

    /** Whether bytecodes were counted: not with {@code --metrics calls}. */
    public boolean hasBytecodes() {
        return numbers != null && (numbers[FLAGS] & NO_BYTECODES) == 0L;
    }

    /**
     * Whether contexts were merged, since memory ran out or the bound on contexts was reached. Then
     * {@link #below} and {@link #methods} lack what was merged.
     */
    public boolean isIncomplete() {
        return numbers != null && (numbers[FLAGS] & MERGED) != 0L;
    }

    /** Entries of all methods. */
    public long calls() {
        return sum(CALLS);
    }

    /** Bytecodes of all methods. */
    public long bytecodes() {
        return sum(BYTECODES);
    }

    /** Each method that was entered or executed anything, in the order of the methods' ids. */
    public Method[] methods() {
        if (numbers == null) {
            return NONE;
        }
        Method[] methods = new Method[(numbers.length - ROWS) / ROW];
        for (int i = 0; i < methods.length; i++) {
            int row = ROWS + i * ROW;
            Object[] name = (Object[]) name(numbers[row]);
            methods[i] = new Method(
                    name == null ? "?" : (String) name[0], name == null ? "?" : (String) name[1],
                    name == null ? "" : (String) name[2],
                    numbers[row + CALLS], numbers[row + BYTECODES]);
        }
        return methods;
    }

    private long sum(int column) {
        long sum = 0L;
        if (numbers != null) {
            for (int i = ROWS + column; i < numbers.length; i += ROW) {
                sum += numbers[i];
            }
        }
        return sum;
    }

    /** The rows of {@code after} without what {@code before} has; null if one is missing. */
    private static long[] difference(long[] after, long[] before) {
        if (after == null || before == null) {
            return null;
        }
        int rows = 0;
        // First their number, then the rows.
        long[] result = null;
        for (int pass = 0; pass < 2; pass++) {
            int to = ROWS;
            int at = ROWS;
            for (int i = ROWS; i < after.length; i += ROW) {
                while (at < before.length && before[at] < after[i]) {
                    at += ROW;
                }
                boolean both = at < before.length && before[at] == after[i];
                long calls = after[i + CALLS] - (both ? before[at + CALLS] : 0L);
                long bytecodes = after[i + BYTECODES] - (both ? before[at + BYTECODES] : 0L);
                if (calls == 0L && bytecodes == 0L) {
                    continue;
                }
                if (result == null) {
                    rows++;
                } else {
                    result[to] = after[i];
                    result[to + CALLS] = calls;
                    result[to + BYTECODES] = bytecodes;
                    to += ROW;
                }
            }
            if (result == null) {
                result = new long[ROWS + rows * ROW];
                result[FLAGS] = after[FLAGS];
            }
        }
        return result;
    }

    // ---- what the rewriter replaces -------------------------------------------------------------

    /**
     * The numbers of threads, as a {@code long[]}; null where nothing is recorded.
     *
     * @param method null, or a {@code String}: only this method and what is below it
     */
    private static Object read(Object method, int whose) {
        return null;
    }

    /** Class, name and descriptor of a method's id, as a {@code String[]}; null if unknown. */
    private static Object name(long id) {
        return null;
    }
}
