/**
 * Compiled to Sample.class with `javac --release 8 -g:none`; what `explain` says of it is a
 * snapshot.
 */
public class Sample implements Comparable<Sample> {
    private static final long BASE = 1L << 40;
    private int[] values = {3, 1, 2};

    long compute(int times) {
        long sum = BASE;
        for (int i = 0; i < times; i++) {
            try {
                sum += values[i % 4] / (i - 2) + weight(i);
            } catch (ArithmeticException | ArrayIndexOutOfBoundsException e) {
                sum -= e.hashCode() & 0xFF;
            }
        }
        return sum;
    }

    static double weight(int kind) {
        switch (kind) {
            case 0: return 1.5;
            case 1: return -2;
            case 2: case 3: return Math.sqrt(kind);
            default: return kind > 100000 ? Double.NaN : 0;
        }
    }

    static String name(Object of) {
        switch (of.toString()) {
            case "a": return "first \"a\"\n";
            default: return new long[2][3].length + of.getClass().getName();
        }
    }

    native Runnable later(boolean now);

    Runnable soon() {
        return () -> compute(7);
    }

    @Override
    public int compareTo(Sample other) {
        return (int) (compute(1) - other.compute(1));
    }
}
