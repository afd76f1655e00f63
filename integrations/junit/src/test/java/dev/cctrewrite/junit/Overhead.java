package dev.cctrewrite.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Arrays;
import java.util.Locale;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineTestKit;

/**
 * Prints what the extension costs a test on a plain JDK. Its name is none of a test's:
 * docs/ci/junit.md says how to run it.
 */
class Overhead {
    private static final int TESTS = 20_000;
    private static final int ROUNDS = 11;

    static class Without {
        @RepeatedTest(TESTS)
        void nothing() {}
    }

    @CountBudget(bytecodes = 100)
    static class With {
        @RepeatedTest(TESTS)
        void nothing() {}
    }

    @Test
    void measure() {
        double[] differences = new double[ROUNDS];
        double[] without = new double[ROUNDS];
        for (int i = -2; i < ROUNDS; i++) {
            double plain = microseconds(Without.class);
            double extended = microseconds(With.class);
            if (i >= 0) {
                without[i] = plain;
                differences[i] = extended - plain;
            }
        }
        Arrays.sort(without);
        Arrays.sort(differences);
        System.out.println(String.format(Locale.ROOT,
            "An empty test takes %.2f us; the extension adds %.2f us (medians of %d rounds of %,d)",
            without[ROUNDS / 2], differences[ROUNDS / 2], ROUNDS, TESTS));
    }

    private static double microseconds(Class<?> tests) {
        long start = System.nanoTime();
        EngineTestKit.engine("junit-jupiter").selectors(selectClass(tests))
            .configurationParameter("cctrewrite.unprofiled", "run").execute();
        return (System.nanoTime() - start) / 1e3 / TESTS;
    }
}
