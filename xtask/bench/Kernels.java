import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * Small programs that do one thing each, for {@code cargo xtask bench run}.
 *
 * <p>{@code java Kernels NAME WARM ROUNDS} runs a kernel {@code WARM + ROUNDS} times and prints the
 * processor time of each of the last {@code ROUNDS} in nanoseconds, then a checksum, which must be
 * the same however the kernel is run.
 */
public final class Kernels {
    private Kernels() {}

    interface Kernel {
        long run();
    }

    public static void main(String[] args) {
        Kernel kernel = kernel(args[0]);
        int warm = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        java.lang.management.ThreadMXBean threads = java.lang.management.ManagementFactory.getThreadMXBean();
        long checksum = 0;
        StringBuilder times = new StringBuilder();
        for (int i = 0; i < warm + rounds; i++) {
            long start = threads.getCurrentThreadCpuTime();
            checksum += kernel.run();
            long time = threads.getCurrentThreadCpuTime() - start;
            if (i >= warm) {
                times.append(time).append(' ');
            }
        }
        System.out.println(times.append("= ").append(checksum));
    }

    static Kernel kernel(String name) {
        switch (name) {
            case "recursion":
                return () -> fib(32);
            case "dispatch":
                return Kernels::dispatch;
            case "collections":
                return Kernels::collections;
            case "interpreter":
                return Kernels::interpreter;
            case "exceptions":
                return Kernels::exceptions;
            case "numbers":
                return Kernels::numbers;
            case "streams":
                return Kernels::streams;
            case "regex":
                return Kernels::regex;
            default:
                throw new IllegalArgumentException(name);
        }
    }

    // ---- calls and nothing else -----------------------------------------------------------------

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    // ---- virtual calls with several targets, as a ray tracer has --------------------------------

    abstract static class Shape {
        abstract double distance(double x, double y);

        double colour(double d) {
            return d < 0.5 ? 1 : 1 / (1 + d);
        }
    }

    static final class Circle extends Shape {
        final double cx;
        final double cy;
        final double r;

        Circle(double cx, double cy, double r) {
            this.cx = cx;
            this.cy = cy;
            this.r = r;
        }

        @Override
        double distance(double x, double y) {
            return Math.abs(square(x - cx) + square(y - cy) - square(r));
        }
    }

    static final class Line extends Shape {
        final double a;
        final double b;

        Line(double a, double b) {
            this.a = a;
            this.b = b;
        }

        @Override
        double distance(double x, double y) {
            return square(a * x + b - y);
        }
    }

    static final class Point extends Shape {
        final double px;
        final double py;

        Point(double px, double py) {
            this.px = px;
            this.py = py;
        }

        @Override
        double distance(double x, double y) {
            return square(x - px) + square(y - py);
        }

        @Override
        double colour(double d) {
            return d < 0.01 ? 2 : 0;
        }
    }

    private static double square(double x) {
        return x * x;
    }

    private static long dispatch() {
        Shape[] shapes = new Shape[30];
        for (int i = 0; i < shapes.length; i++) {
            double a = i * 0.03;
            shapes[i] = i % 3 == 0 ? new Circle(a, 1 - a, 0.2) : i % 3 == 1 ? new Line(a, 0.5) : new Point(a, a * a);
        }
        double sum = 0;
        for (int y = 0; y < 150; y++) {
            for (int x = 0; x < 150; x++) {
                for (Shape shape : shapes) {
                    sum += shape.colour(shape.distance(x / 150.0, y / 150.0));
                }
            }
        }
        return Double.doubleToLongBits(sum);
    }

    // ---- maps, lists, strings -------------------------------------------------------------------

    private static long collections() {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 60_000; i++) {
            String key = "key" + i * 31 % 2000;
            Integer count = counts.get(key);
            counts.put(key, count == null ? 1 : count + 1);
        }
        List<String> keys = new ArrayList<>(counts.keySet());
        keys.sort(null);
        StringBuilder all = new StringBuilder();
        for (String key : keys) {
            all.append(key, 3, key.length()).append(counts.get(key));
        }
        return all.toString().hashCode();
    }

    // ---- an interpreter of syntax trees ---------------------------------------------------------

    interface Node {
        int eval(int[] variables);
    }

    private static Node number(int value) {
        return variables -> value;
    }

    private static Node variable(int index) {
        return variables -> variables[index];
    }

    static final class Binary implements Node {
        final char operator;
        final Node left;
        final Node right;

        Binary(char operator, Node left, Node right) {
            this.operator = operator;
            this.left = left;
            this.right = right;
        }

        @Override
        public int eval(int[] variables) {
            int a = left.eval(variables);
            int b = right.eval(variables);
            switch (operator) {
                case '+':
                    return a + b;
                case '*':
                    return a * b;
                default:
                    return a < b ? 1 : 0;
            }
        }
    }

    static final class Assign implements Node {
        final int index;
        final Node value;

        Assign(int index, Node value) {
            this.index = index;
            this.value = value;
        }

        @Override
        public int eval(int[] variables) {
            variables[index] = value.eval(variables);
            return variables[index];
        }
    }

    static final class While implements Node {
        final Node condition;
        final Node[] body;

        While(Node condition, Node... body) {
            this.condition = condition;
            this.body = body;
        }

        @Override
        public int eval(int[] variables) {
            int last = 0;
            while (condition.eval(variables) != 0) {
                for (Node node : body) {
                    last = node.eval(variables);
                }
            }
            return last;
        }
    }

    private static long interpreter() {
        // i = 0; s = 0; while (i < 300000) { s = s * 31 + i * i; i = i + 1; }
        Node i = variable(0);
        Node s = variable(1);
        Node step = new Assign(1, new Binary('+', new Binary('*', s, number(31)), new Binary('*', i, i)));
        Node program =
                new While(new Binary('<', i, number(300_000)), step, new Assign(0, new Binary('+', i, number(1))));
        int[] variables = new int[2];
        program.eval(variables);
        return variables[1];
    }

    // ---- exceptions that are thrown and caught --------------------------------------------------

    private static int parse(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return e.getMessage().length();
        }
    }

    private static long exceptions() {
        String[] texts = {"12", "x", "345", "1e3", "-7", ""};
        int[] few = new int[3];
        long sum = 0;
        for (int i = 0; i < 12_000; i++) {
            sum += parse(texts[i % texts.length]);
            try {
                few[i % 4] = i;
            } catch (ArrayIndexOutOfBoundsException e) {
                sum++;
            }
        }
        return sum + few[0];
    }

    // ---- loops over numbers ---------------------------------------------------------------------

    private static long numbers() {
        int n = 120;
        double[][] a = new double[n][n];
        double[][] b = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                a[i][j] = i * 0.5 + j;
                b[i][j] = i - j * 0.25;
            }
        }
        double trace = 0;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int k = 0; k < n; k++) {
                    sum += a[i][k] * b[k][j];
                }
                if (i == j) {
                    trace += sum;
                }
            }
        }
        boolean[] composite = new boolean[200_000];
        int primes = 0;
        for (int i = 2; i < composite.length; i++) {
            if (!composite[i]) {
                primes++;
                for (int j = 2 * i; j < composite.length; j += i) {
                    composite[j] = true;
                }
            }
        }
        return Double.doubleToLongBits(trace) + primes;
    }

    // ---- lambdas in chains ----------------------------------------------------------------------

    private static long streams() {
        long sum = 0;
        for (int round = 0; round < 400; round++) {
            int offset = round;
            sum += IntStream.range(0, 10_000).filter(i -> (i & 3) != 0).mapToLong(i -> (long) i * offset).sum();
            sum += Arrays.asList("to", "be", "or", "not").stream().map(String::length).reduce(0, Integer::sum);
        }
        return sum;
    }

    // ---- backtracking ---------------------------------------------------------------------------

    private static long regex() {
        Pattern pattern = Pattern.compile("(\\w+)@(\\w+\\.)+(com|org)");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 3_000; i++) {
            text.append("some words and ").append("user").append(i).append(i % 3 == 0 ? "@mail.example.org, " : "@nowhere; ");
        }
        java.util.regex.Matcher matcher = pattern.matcher(text);
        long found = 0;
        while (matcher.find()) {
            found += matcher.end();
        }
        return found;
    }
}
