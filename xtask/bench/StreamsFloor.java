import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * What counting costs the kernel streams at least (docs/benchmarks.md): the loop that C2 makes of
 * its pipeline, written by hand, and the same with an addition in memory for each call of the
 * pipeline: three for each number, nine for three of four. Where the counts are is known beforehand
 * here: nothing is looked up, nothing is passed on.
 */
public final class StreamsFloor {
    private static final sun.misc.Unsafe MEMORY = memory();
    /** Each count in a line of the cache of its own, as those of different nodes are at best. */
    private static final int APART = 64;

    private StreamsFloor() {}

    private static sun.misc.Unsafe memory() {
        try {
            Field field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (sun.misc.Unsafe) field.get(null);
        } catch (ReflectiveOperationException problem) {
            throw new IllegalStateException(problem);
        }
    }

    private static long bare(long counts) {
        long sum = 0;
        for (int round = 0; round < 400; round++) {
            long of = 0;
            for (int i = 0; i < 10_000; i++) {
                if ((i & 3) != 0) {
                    of += (long) i * round;
                }
            }
            sum += of;
        }
        return sum;
    }

    private static void call(long counts, int node) {
        long at = counts + node * APART;
        MEMORY.putLong(at, MEMORY.getLong(at) + 1);
    }

    private static long calls(long counts) {
        long sum = 0;
        for (int round = 0; round < 400; round++) {
            long of = 0;
            for (int i = 0; i < 10_000; i++) {
                call(counts, 0);
                call(counts, 1);
                call(counts, 2);
                if ((i & 3) != 0) {
                    call(counts, 3);
                    call(counts, 4);
                    call(counts, 5);
                    call(counts, 6);
                    call(counts, 7);
                    call(counts, 8);
                    of += (long) i * round;
                }
            }
            sum += of;
        }
        return sum;
    }

    private static void callAndBytecodes(long counts, int node) {
        call(counts, node);
        long at = counts + node * APART + 8;
        MEMORY.putLong(at, MEMORY.getLong(at) + 11);
    }

    private static long both(long counts) {
        long sum = 0;
        for (int round = 0; round < 400; round++) {
            long of = 0;
            for (int i = 0; i < 10_000; i++) {
                callAndBytecodes(counts, 0);
                callAndBytecodes(counts, 1);
                callAndBytecodes(counts, 2);
                if ((i & 3) != 0) {
                    callAndBytecodes(counts, 3);
                    callAndBytecodes(counts, 4);
                    callAndBytecodes(counts, 5);
                    callAndBytecodes(counts, 6);
                    callAndBytecodes(counts, 7);
                    callAndBytecodes(counts, 8);
                    of += (long) i * round;
                }
            }
            sum += of;
        }
        return sum;
    }

    /** The work. */
    private interface Way {
        long run(long counts);
    }

    public static void main(String[] args) {
        String[] names = {"bare loop", "calls", "calls and bytecodes"};
        Way[] ways = {StreamsFloor::bare, StreamsFloor::calls, StreamsFloor::both};
        long counts = MEMORY.allocateMemory(16 * APART);
        MEMORY.setMemory(counts, 16 * APART, (byte) 0);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long expected = bare(counts);
        for (int way = 0; way < ways.length; way++) {
            long[] times = new long[15];
            for (int round = -40; round < times.length; round++) {
                long before = threads.getCurrentThreadCpuTime();
                if (ways[way].run(counts) != expected) {
                    throw new AssertionError(names[way]);
                }
                if (round >= 0) {
                    times[round] = threads.getCurrentThreadCpuTime() - before;
                }
            }
            Arrays.sort(times);
            System.out.printf("%-20s %.2f ms (%.2f to %.2f)%n", names[way], times[7] / 1e6, times[0] / 1e6, times[14] / 1e6);
        }
    }
}
