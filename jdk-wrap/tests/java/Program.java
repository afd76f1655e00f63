import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;

/**
 * Calls the runtime as rewritten code does. Each static method here is one scenario of runtime.rs.
 */
public final class Program {
    /** Ids of the methods of the test's index, by name, as system properties in hexadecimal. */
    static long mid(String name) {
        return Long.parseUnsignedLong(System.getProperty("mid." + name), 16);
    }

    static final long SLOTS = 40;

    public static void main(String[] args) throws Exception {
        CctHooks.boot();
        here();
        if (!args[0].equals("embedded")) {
            CctHooks.launch();
        }
        Program.class.getDeclaredMethod(args[0]).invoke(null);
        CctHooks.finish();
        CctHooks.finish();
    }

    static long here() {
        return CctRuntime.context(CctRuntime.thread());
    }

    /** main calls a (from two sites) and b; a calls b, which recurses once; leaf and call. */
    static void calls() {
        long main = CctRuntime.enterAndTick(here(), mid("main"), 3, 3);
        for (int i = 0; i < 10; i++) {
            long a = CctRuntime.enterAndTick(main + SLOTS + 8 * (i % 2), mid("a"), 5, 0);
            CctRuntime.count(a, 5);
            long b = CctRuntime.enterAndTick(a + SLOTS, mid("b"), 1, 1);
            CctRuntime.enterAndTick(b + SLOTS, mid("b"), 1, 1);
        }
        CctRuntime.enter(main + SLOTS, mid("b"), 7);
        CctRuntime.leaf(main + SLOTS, mid("Object"), 1);
        CctRuntime.leaf(main + SLOTS, mid("Object"), 1);
        Object thread = CctRuntime.thread();
        long before = CctRuntime.context(thread);
        CctRuntime.call(main + SLOTS, mid("foreign"), 0);
        long inside = CctRuntime.enter(CctRuntime.context(thread), mid("b"), 2);
        CctRuntime.store(inside + SLOTS);
        CctRuntime.enter(CctRuntime.context(thread), 0x1234567890ABC000L, 100);
        CctRuntime.restore(thread, before);
        check(CctRuntime.context(thread) == before, "restored");
        CctRuntime.tick(main, 10);
        CctRuntime.loop(main, 10, 4);
        /* Each entry counts 31 by its id; the last of them leaves two that it did not execute. */
        CctRuntime.enter(main + SLOTS, mid("ahead"), 0);
        CctRuntime.enter(main + SLOTS, mid("ahead"), 0);
        CctRuntime.count(CctRuntime.enter(main + SLOTS, mid("ahead"), 0), -2);
    }

    /** Nothing is recorded, and nothing is touched, below the limit. */
    static void bypass() {
        Object thread = CctRuntime.thread();
        long before = CctRuntime.context(thread);
        CctRuntime.restore(thread, CctRuntime.BYPASS);
        long node = CctRuntime.enterAndTick(CctRuntime.context(thread), mid("a"), 1, 1);
        check(node == 0, "no node in bypass");
        CctRuntime.count(node, 1);
        CctRuntime.tick(node, 1);
        CctRuntime.loop(node, 1, 1);
        check(CctRuntime.enterAndPoll(node + SLOTS, mid("a"), 1, 1) == 0, "no node in bypass");
        CctRuntime.leaf(node + SLOTS + 63 * 8, mid("b"), 1);
        CctRuntime.call(node + SLOTS + 63 * 8, mid("b"), 1);
        CctRuntime.store(node + SLOTS + 63 * 8);
        check(CctRuntime.context(thread) == CctRuntime.BYPASS, "still in bypass");
        CctRuntime.restore(thread, before);
        CctRuntime.restore(null, 77);
        check(CctRuntime.context(null) == 0, "no context without a thread");
    }

    /** With record=off the JVM never counts as booted. */
    static void off() {
        check(CctRuntime.thread() == null, "no thread");
        check(CctRuntime.enterAndTick(here(), mid("a"), 1, 1) == 0, "no node");
    }

    static void embedded() {
        CctRuntime.enterAndTick(here(), mid("a"), 1, 1);
    }

    /** A path of 100000 contexts, and 3000 children of one context. */
    static void shape() {
        long node = CctRuntime.enter(here(), mid("main"), 1);
        long top = node;
        for (int i = 0; i < 100000; i++) {
            node = CctRuntime.enter(node + SLOTS, mid(i % 2 == 0 ? "a" : "b"), 1);
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 1; i <= 3000; i++) {
                CctRuntime.enter(top + SLOTS, (long) i * 0x5851F42D4C957F2DL & ~0xFFFL | 64, i);
            }
        }
    }

    /** The number of calls of {@link #crowd} with either number of children. */
    static final int CROWD = 200_000;

    /**
     * Finds the children of one context in random order, among few and among many: a call must take
     * about the same time.
     */
    static void crowd() {
        long main = CctRuntime.enter(here(), mid("main"), 0);
        long few = CctRuntime.enter(main + SLOTS, mid("a"), 0);
        long many = CctRuntime.enter(main + SLOTS, mid("b"), 0);
        long first = among(few, 16);
        long second = among(many, 20_000);
        check(second < 50 * first, "a call among 20,000 children takes " + second / CROWD
                + " ns, among 16 " + first / CROWD);
    }

    private static long among(long parent, int count) {
        long[] nodes = new long[count];
        for (int i = 0; i < count; i++) {
            nodes[i] = CctRuntime.enter(parent + SLOTS, crowded(i), 0);
        }
        long random = 1;
        long start = System.nanoTime();
        for (int i = 0; i < CROWD; i++) {
            random = random * 6364136223846793005L + 1442695040888963407L;
            int which = (int) ((random >>> 33) % count);
            check(CctRuntime.enter(parent + SLOTS, crowded(which), 0) == nodes[which],
                    "the same child");
        }
        return System.nanoTime() - start;
    }

    private static long crowded(int i) {
        return (long) (i + 1) * 0x5851F42D4C957F2DL & ~0xFFFL | 1;
    }

    /**
     * Twenty methods alternate at one call site, then one of them has it for itself, and so on,
     * many times. Each time the context must be the one of the method, below that of the caller.
     * The site must have a table while methods alternate, and none otherwise. The runtime must
     * reuse tables.
     */
    static void turns() {
        long main = CctRuntime.enter(here(), mid("main"), 0);
        long slot = main + SLOTS;
        long[] mids = new long[20];
        long[] nodes = new long[mids.length];
        long[] calls = new long[mids.length];
        long random = 1;
        long used = 0;
        for (int phase = 0; phase < 200; phase++) {
            boolean turns = phase % 2 == 0;
            for (int i = 0; i < 4200; i++) {
                random = random * 0x5851F42D4C957F2DL + 0x14057B7EF767814FL;
                int which = turns ? (int) (random >>> 33) % (phase % 4 == 0 ? mids.length : 3)
                        : phase % mids.length;
                if (mids[which] == 0) {
                    mids[which] = which == 0
                            ? mid("a") : (long) which * 0x5851F42D4C957F2DL & ~0xFFFL | 2;
                }
                long node = CctRuntime.enter(slot, mids[which], 1);
                check(nodes[which] == 0 || nodes[which] == node, "always the same context");
                nodes[which] = node;
                calls[which]++;
                check(word(node) == mids[which], "of this method");
                check(word(node + 8) == calls[which]
                        && word(node + 16) == calls[which], "entered so often");
            }
            check((word(word(slot)) == TABLE) == turns, "a table while methods take turns");
            // The tree takes only contexts and tables from its chunk.
            long free = word(word(main & -4096L) + 32);
            check(phase < 4 || free == used, "no more memory");
            used = free;
        }
        // Where call sites are merged, the other site's contexts are these.
        check(CctRuntime.enter(main + SLOTS + 8, mids[3], 0) == nodes[3],
                "the child of another site");
    }

    /** The id of a table. */
    static final long TABLE = 3;

    private static long word(long address) {
        return CctMemory.U.getLong(null, address);
    }

    /** Overflows the stack at different points of the runtime. */
    static void overflow() {
        long main = CctRuntime.enter(here(), mid("main"), 0);
        for (int i = 1; i <= 20; i++) {
            try {
                dive(main, (long) i * 0x5851F42D4C957F2DL & ~0xFFFL | 64, i % 7);
            } catch (StackOverflowError e) {
                CctRuntime.enter(main + SLOTS, mid("a"), 1);
            }
        }
    }

    private static int dive(long caller, long mid, int padding) {
        if (padding > 0) {
            return dive(caller, mid, padding - 1) + 1;
        }
        return dive(CctRuntime.enter(caller + SLOTS + 8, mid, 1), mid, 0) + 1;
    }

    static final class Worker extends Thread {
        Worker(String name) {
            super(name);
        }

        @Override
        public void run() {
            CctRuntime.enter(here(), mid("a"), 1);
        }
    }

    /** Threads one after another, then some at once. */
    static void threads() throws Exception {
        for (int i = 0; i < 100; i++) {
            Thread worker = new Worker("worker-" + i);
            worker.start();
            worker.join();
        }
        Thread other = new Worker("other");
        other.setDaemon(true);
        other.start();
        other.join();
        Thread[] many = new Thread[50];
        for (int i = 0; i < many.length; i++) {
            many[i] = new Worker("crowd " + i + " of " + many.length);
            many[i].start();
        }
        for (Thread worker : many) {
            worker.join();
        }
    }

    /** Two threads with similar names at the same time. */
    static void pair() throws Exception {
        final java.util.concurrent.CyclicBarrier both = new java.util.concurrent.CyclicBarrier(2);
        Thread[] pair = new Thread[2];
        for (int i = 0; i < 2; i++) {
            pair[i] = new Thread("pair-" + i) {
                @Override
                public void run() {
                    CctRuntime.enter(here(), mid("a"), 1);
                    try {
                        both.await();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                }
            };
            pair[i].start();
        }
        pair[0].join();
        pair[1].join();
    }

    /** More contexts than two MiB can hold. */
    static void memory() {
        long main = CctRuntime.enter(here(), mid("main"), 0);
        for (int i = 0; i < 20000; i++) {
            long node = CctRuntime.enter(main + SLOTS,
                    (long) (i + 1) * 0x5851F42D4C957F2DL & ~0xFFFL | 5 << 7 | 64, 1);
            CctRuntime.enter(node + SLOTS + 8 * 63, mid("a"), 1);
        }
        Thread late = new Worker("late");
        late.start();
        try {
            late.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A loop that reports. */
    static void agent() {
        long main = CctRuntime.enter(here(), mid("main"), 0);
        // Run longer than a thread runs before it reads the agent's initial granularity.
        CctRuntime.loop(main, 1 << 21, 0);
        for (int i = 0; i < 1000; i++) {
            CctRuntime.loop(main, 10, 10);
        }
        Thread worker = new Worker("worker");
        worker.start();
        try {
            worker.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Passes class files to the hook of ClassLoader.defineClass1; prints an error and continues.
     */
    static void classes() throws Exception {
        here();
        for (String file : System.getProperty("classes").split(",")) {
            byte[] bytes = new byte[(int) new File(file).length()];
            DataInputStream in = new DataInputStream(new FileInputStream(file));
            in.readFully(bytes);
            in.close();
            byte[] shifted = new byte[bytes.length + 7];
            System.arraycopy(bytes, 0, shifted, 5, bytes.length);
            try {
                CctHooks.define$defineClass1(null, null, shifted, 5, bytes.length, null, null);
            } catch (IncompatibleClassChangeError e) {
                System.out.println(e.getMessage());
            }
            // Damage at any position must do no harm.
            for (int cut = 0; cut < bytes.length; cut++) {
                cctrewrite.runtime.ClassBytes.parse(bytes, 0, cut);
                byte old = bytes[cut];
                bytes[cut] = -1;
                cctrewrite.runtime.ClassBytes.parse(bytes, 0, bytes.length);
                bytes[cut] = old;
            }
        }
        String enter = System.getProperty("enter");
        if (enter != null) {
            CctRuntime.enter(here(), Long.parseUnsignedLong(enter, 16), 1);
        }
    }

    static final class Definer extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    static void hidden() throws Exception {
        File file = new File(System.getProperty("classes"));
        byte[] bytes = new byte[(int) file.length()];
        DataInputStream in = new DataInputStream(new FileInputStream(file));
        in.readFully(bytes);
        in.close();
        Class<?> type = new Definer().define(bytes);
        java.lang.reflect.Method[] all = type.getDeclaredMethods();
        java.lang.reflect.Method[] rest = CctHooks.filter(all);
        check(all.length == 3 && rest.length == 1 && rest[0].getName().equals("n"), "methods");
        check(CctHooks.filter(rest) == rest, "same array");
        java.lang.reflect.Field[] fields = CctHooks.filter(Thread.class.getDeclaredFields());
        check(fields.length == Thread.class.getDeclaredFields().length - 3, "fields");
        java.lang.reflect.Constructor<?>[] constructors = String.class.getDeclaredConstructors();
        check(CctHooks.filter(constructors) == constructors, "constructors");
    }

    static void hashes() {
        byte[] bytes = new byte[1400];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 3));
        }
        for (int n = 0; n < bytes.length; n++) {
            System.out.println(Long.toHexString(
                    cctrewrite.runtime.Xxh3.hash(java.util.Arrays.copyOf(bytes, n))));
        }
    }

    static void check(boolean ok, String what) {
        if (!ok) {
            throw new IllegalStateException(what);
        }
    }
}
