package dev.cctrewrite.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import cctrewrite.api.Counts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/** Runs {@link Samples}: on a profiled JDK budgets hold, on a plain one nothing is counted. */
class CountExtensionTest {
    private static List<Event> run(Class<?> samples, String... parameters) {
        EngineTestKit.Builder kit = EngineTestKit.engine("junit-jupiter").selectors(selectClass(samples));
        for (int i = 0; i < parameters.length; i += 2) {
            kit.configurationParameter(parameters[i], parameters[i + 1]);
        }
        return kit.execute().testEvents().list();
    }

    /** The messages of failed tests, by method. */
    private static List<String> failures(List<Event> events) {
        return events.stream()
            .filter(event -> event.getPayload(TestExecutionResult.class).isPresent())
            .map(event -> event.getRequiredPayload(TestExecutionResult.class))
            .filter(result -> result.getStatus() == TestExecutionResult.Status.FAILED)
            .map(result -> String.valueOf(result.getThrowable().get().getMessage()))
            .sorted()
            .collect(Collectors.toList());
    }

    private static long count(List<Event> events, TestExecutionResult.Status status) {
        return events.stream()
            .filter(event -> event.getPayload(TestExecutionResult.class).isPresent())
            .filter(event -> event.getRequiredPayload(TestExecutionResult.class).getStatus() == status)
            .count();
    }

    @Test
    void budgetsHold() {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        List<Event> within = run(Samples.WithinBudget.class);
        assertEquals(java.util.Collections.emptyList(), failures(within));
        assertEquals(1, count(within, TestExecutionResult.Status.SUCCESSFUL));

        List<String> failures = failures(run(Samples.TooMuch.class));
        assertEquals(4, failures.size(), failures.toString());
        String name = Samples.TooMuch.class.getName();
        assertTrue(failures.get(0).startsWith(name + ".bytecodes executed 913 bytecodes, 13 more than its budget "
            + "of 900. Most:\n"), failures.get(0));
        assertTrue(failures.get(0).contains("  dev.cctrewrite.junit.Samples.loop(I)I"), failures.get(0));
        assertTrue(failures.get(1).startsWith(name + ".calls executed 2 calls, 1 more"), failures.get(1));
        assertTrue(failures.get(2).contains(".ofClasses executed ") && failures.get(2).contains(" of dev.cct"),
            failures.get(2));
        assertTrue(!failures.get(2).contains("java.lang.String"), failures.get(2));
        assertEquals(name + ".ofNothing executed nothing of com.acme.**", failures.get(3));
    }

    @Test
    void storedCountsHold() throws Exception {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        Path file = Paths.get("../../target/integrations/samples.tsv");
        Files.deleteIfExists(file);
        Samples.rounds = 100;
        List<String> missing = failures(run(Samples.Stored.class));
        assertEquals(3, missing.size());
        assertTrue(missing.get(0).contains("-Dcctrewrite.update=true"), missing.get(0));
        String update = "cctrewrite.update";
        assertEquals(0, failures(run(Samples.Stored.class, update, "true")).size());
        String stored = new String(Files.readAllBytes(file), "UTF-8");
        assertTrue(stored.contains("\t1\t909\tdev.cctrewrite.junit.Samples.loop(I)I\n"), stored);
        assertEquals(0, failures(run(Samples.Stored.class)).size());

        Samples.rounds = 101;
        try {
            List<String> grown = failures(run(Samples.Stored.class));
            assertEquals(3, grown.size(), grown.toString());
            assertTrue(grown.get(2).contains(".same grew from ") && grown.get(2).contains(
                "  +9  dev.cctrewrite.junit.Samples.loop(I)I".trim()), grown.get(2));
        } finally {
            Samples.rounds = 100;
        }
    }

    @Test
    void failuresOfTheTestComeFirst() {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        assertEquals(java.util.Arrays.asList("of the test: 4950"), failures(run(Samples.Failing.class)));
    }

    @Test
    void withoutAProfiledJdk() {
        Assumptions.assumeFalse(Counts.areRecorded(), "needs a plain JDK");
        String option = "cctrewrite.unprofiled";
        Samples.executed = 0;
        assertEquals(1, count(run(Samples.WithinBudget.class), TestExecutionResult.Status.ABORTED));
        assertEquals(0, Samples.executed);
        assertEquals(1, count(run(Samples.WithinBudget.class, option, "run"),
            TestExecutionResult.Status.SUCCESSFUL));
        assertEquals(1, Samples.executed);
        assertEquals(1, failures(run(Samples.WithinBudget.class, option, "fail")).size());
        assertTrue(failures(run(Samples.WithinBudget.class, option, "x")).get(0).contains("choose skip"));
        assertEquals(1, Samples.executed);
    }
}
