package dev.cctrewrite.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import cctrewrite.api.Counts;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs JMH with the profiler, in forks and in this JVM. */
class CountProfilerTest {
    private static Map<String, Result<?>> run(String benchmark, Mode mode, int forks)
            throws RunnerException {
        ChainedOptionsBuilder options = new OptionsBuilder()
            .include("\\Q" + Samples.class.getName() + "." + benchmark + "\\E")
            .mode(mode).forks(forks).verbosity(VerboseMode.SILENT)
            .warmupIterations(1).warmupTime(TimeValue.milliseconds(50))
            .measurementIterations(3).measurementTime(TimeValue.milliseconds(50))
            .addProfiler(CountProfiler.class);
        Map<String, Result<?>> results = new TreeMap<>();
        Collection<RunResult> runs = new Runner(options.build()).run();
        for (RunResult run : runs) {
            String n = run.getParams().getParam("n");
            run.getSecondaryResults().forEach(
                (name, result) -> results.put((n == null ? "" : n + " ") + name, result));
        }
        return results;
    }

    private static void assertExact(double wanted, Result<?> result) {
        assertEquals(wanted, result.getStatistics().getMin());
        assertEquals(wanted, result.getStatistics().getMax());
        assertEquals("#/op", result.getScoreUnit());
    }

    @Test
    void countsAreExactForEachParameter() throws RunnerException {
        assumeTrue(Counts.areRecorded(), "this JDK is not profiled");
        for (int forks : new int[] {0, 1}) {
            Map<String, Result<?>> results = run("Loops.loop", Mode.AverageTime, forks);
            assertExact(110, results.get("10 cctrewrite.bytecodes"));
            assertExact(1010, results.get("100 cctrewrite.bytecodes"));
            assertExact(1, results.get("10 cctrewrite.calls"));
        }
    }

    @Test
    void operationsOfAnInvocationDivide() throws RunnerException {
        assumeTrue(Counts.areRecorded(), "this JDK is not profiled");
        Map<String, Result<?>> results = run("Loops.ten", Mode.Throughput, 0);
        assertExact((2 + 3 * 11 + 5 * 10 + 1 + 10 * 6) / 10.0,
            results.get("10 cctrewrite.bytecodes"));
        assertExact(1.1, results.get("10 cctrewrite.calls"));
        String text = results.get("10 cctrewrite").extendedInfo();
        assertTrue(text.contains("1.000  " + Samples.class.getName() + "$Loops.one(I)I"), text);
    }

    @Test
    void groupsAddUp() throws RunnerException {
        assumeTrue(Counts.areRecorded(), "this JDK is not profiled");
        Map<String, Result<?>> results = run("Pair.pair", Mode.Throughput, 0);
        assertExact(2, results.get("cctrewrite.bytecodes"));
        assertExact(1, results.get("cctrewrite.calls"));
    }

    @Test
    void plainJdksAreRefused() {
        assumeFalse(Counts.areRecorded(), "this JDK is profiled");
        ProfilerException refused = assertThrows(ProfilerException.class, CountProfiler::new);
        assertTrue(refused.getMessage().contains("cctrewrite run -- java -jar"));
    }

    @Test
    void unknownOptionsAreRefused() {
        ProfilerException refused =
            assertThrows(ProfilerException.class, () -> new CountProfiler("bottom=3"));
        assertEquals("unknown options 'bottom=3'; the only one is top=N", refused.getMessage());
    }
}
