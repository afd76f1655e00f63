package dev.cctrewrite.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Benchmarks whose counts can be derived by hand. */
public class Samples {
    private Samples() {}

    /** Work that subclasses inherit. */
    @State(Scope.Thread)
    public abstract static class Inherited {
        @Param({"10", "100"})
        int n;

        /**
         * 10 * n + 10 bytecodes: 4 before the loop; 4 for each of n + 1 tests; 6 for each of n
         * rounds; 2 for the return.
         */
        @Benchmark
        public int loop() {
            int sum = 0;
            for (int i = 0; i < n; i++) {
                sum += i;
            }
            return sum;
        }
    }

    /** A nested class. */
    public static class Loops extends Inherited {
        /** 10 calls of {@link #one}, 6 bytecodes each; itself 2 + 3 * 11 + 5 * 10 + 1. */
        @Benchmark
        @OperationsPerInvocation(10)
        public void ten() {
            for (int i = 0; i < 10; i++) {
                one(i);
            }
        }

        private static int one(int i) {
            return i * i + 0;
        }
    }

    /** Two methods in threads of their own. */
    @State(Scope.Group)
    public static class Pair {
        /** 2 bytecodes. */
        @Benchmark
        @Group("pair")
        public int left() {
            return 1;
        }

        /** 2 bytecodes. */
        @Benchmark
        @Group("pair")
        public int right() {
            return 2;
        }
    }
}
