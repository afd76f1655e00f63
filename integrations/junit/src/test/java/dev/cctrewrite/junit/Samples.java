package dev.cctrewrite.junit;

import java.util.function.IntSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the tests of the extension run. {@code loop(n)} executes 9 n + 9 bytecodes. */
final class Samples {
    static int rounds = 100;
    static int executed;

    private Samples() {}

    static int loop(int n) {
        int sum = 0;
        for (int i = 0; i < n; i++) {
            sum += i;
        }
        return sum;
    }

    static class WithinBudget {
        @Test
        // Of the loop 909; of the test: getstatic, iconst_1, iadd, putstatic, then getstatic,
        // invokestatic, pop, return.
        @CountBudget(bytecodes = 909 + 4 + 4, calls = 2)
        void exactly() {
            executed++;
            loop(rounds);
        }
    }

    static class TooMuch {
        @Test
        @MaxBytecodes(900)
        void bytecodes() {
            loop(rounds);
        }

        @Test
        @CountBudget(calls = 1)
        void calls() {
            loop(rounds);
        }

        @Test
        @CountBudget(bytecodes = 1, of = "dev.cctrewrite.junit.*")
        void ofClasses() {
            loop(rounds);
            "text".concat("more");
        }

        @Test
        @CountBudget(bytecodes = 1, of = "com.acme.**")
        void ofNothing() {
            loop(rounds);
        }
    }

    static class Stored {
        @Test
        @SameAs("../../target/integrations/samples.tsv")
        void same() {
            executed++;
            loop(rounds);
        }

        @ParameterizedTest
        @ValueSource(ints = {1, 2})
        @SameAs("../../target/integrations/samples.tsv")
        void parameters(int factor) {
            loop(factor * rounds);
        }
    }

    /** A failure of the test itself comes first. */
    static class Failing {
        @Test
        @MaxBytecodes(1)
        void fails() {
            IntSupplier work = () -> loop(rounds);
            throw new IllegalStateException("of the test: " + work.getAsInt());
        }

        @Test
        @CountBudget(bytecodes = 1, warmUp = 1)
        void failsInTheWarmUp() {
            throw new IllegalStateException("after a warm-up: " + loop(rounds));
        }
    }

    /** A budget for each test of a class, also in classes nested in it. */
    @MaxBytecodes(100)
    static class Enclosing {
        /** Rounds of the next repetition. */
        static int next;

        @ParameterizedTest
        @ValueSource(ints = {0, 10, 9, 11})
        void parameters(int n) {
            loop(n);
        }

        @RepeatedTest(3)
        void repeated() {
            loop(next++);
        }

        @Nested
        class Within {
            @Test
            void inherits() {
                loop(10);
            }

            @Test
            @MaxBytecodes(1000)
            void hasItsOwn() {
                loop(100);
            }
        }
    }

    static class Dynamic {
        @TestFactory
        @MaxBytecodes(100)
        Stream<DynamicTest> tests() {
            return Stream.of(DynamicTest.dynamicTest("one", () -> loop(100)));
        }
    }
}
