package dev.cctrewrite.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import cctrewrite.api.Counts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Arrays;
import java.util.Collections;
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
        EngineTestKit.Builder kit =
            EngineTestKit.engine("junit-jupiter").selectors(selectClass(samples));
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

    private static void assertStarts(String start, String text) {
        assertTrue(text.startsWith(start), text);
    }

    private static long count(List<Event> events, TestExecutionResult.Status status) {
        return events.stream()
            .filter(event -> event.getPayload(TestExecutionResult.class).isPresent())
            .map(event -> event.getRequiredPayload(TestExecutionResult.class).getStatus())
            .filter(status::equals)
            .count();
    }

    @Test
    void budgetsHold() {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        List<Event> within = run(Samples.WithinBudget.class);
        assertEquals(Collections.emptyList(), failures(within));
        assertEquals(1, count(within, TestExecutionResult.Status.SUCCESSFUL));

        List<String> failures = failures(run(Samples.TooMuch.class));
        assertEquals(4, failures.size(), failures.toString());
        String name = Samples.TooMuch.class.getName();
        // Of the test: getstatic, invokestatic, pop, return.
        String oneCall = " bytecodes            1 calls  ";
        assertEquals(
            name + ".bytecodes executed 913 bytecodes, 13 more than its budget of 900. Most:\n"
                + "              909" + oneCall + "dev.cctrewrite.junit.Samples.loop(I)I\n"
                + "                4" + oneCall + name + ".bytecodes()V",
            failures.get(0));
        assertStarts(name + ".calls executed 2 calls, 1 more than its budget of 1. Most:\n",
            failures.get(1));
        // As above, and: ldc, ldc, invokevirtual, pop; not what String.concat executes.
        assertStarts(name + ".ofClasses executed 917 bytecodes of dev.cctrewrite.junit.*, 916 more",
            failures.get(2));
        assertFalse(failures.get(2).contains("java.lang.String"), failures.get(2));
        assertEquals(name + ".ofNothing executed nothing of com.acme.**", failures.get(3));
    }

    @Test
    void storedCountsHold() throws Exception {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        Path file = Paths.get("../../target/integrations/samples.tsv");
        Files.deleteIfExists(file);
        Samples.rounds = 100;
        List<String> missing = failures(run(Samples.Stored.class));
        assertEquals(3, missing.size(), missing.toString());
        assertTrue(missing.get(0).contains("-Dcctrewrite.update=true"), missing.get(0));
        String update = "cctrewrite.update";
        assertEquals(0, failures(run(Samples.Stored.class, update, "true")).size());
        String stored = new String(Files.readAllBytes(file), "UTF-8");
        assertTrue(stored.contains("\t1\t909\tdev.cctrewrite.junit.Samples.loop(I)I\n"), stored);
        // 9 n + 9 of the loop; iload_1, getstatic, imul, invokestatic, pop, return.
        assertTrue(stored.contains(".parameters(I)[1]\t2\t915\t"), stored);
        assertTrue(stored.contains(".parameters(I)[2]\t2\t1815\t"), stored);
        assertEquals(0, failures(run(Samples.Stored.class)).size());

        Samples.rounds = 101;
        try {
            List<String> grown = failures(run(Samples.Stored.class));
            assertEquals(3, grown.size(), grown.toString());
            String name = Samples.Stored.class.getName();
            String loop = "dev.cctrewrite.junit.Samples.loop(I)I";
            assertEquals(name + ".parameters(I)[1] grew from 915 to 924 bytecodes (+0.98%, limit "
                + "0.0%). Most:\n               +9  " + loop, grown.get(0));
            assertStarts(
                name + ".parameters(I)[2] grew from 1,815 to 1,833 bytecodes", grown.get(1));
            assertStarts(name + ".same grew from 917 to 926 bytecodes", grown.get(2));
        } finally {
            Samples.rounds = 100;
        }
    }

    @Test
    void failuresOfTheTestComeFirst() {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        assertEquals(Arrays.asList("after a warm-up: 4950", "of the test: 4950"),
            failures(run(Samples.Failing.class)));
    }

    /** Each invocation counts anew; a class's budget holds in classes nested in it. */
    @Test
    void parametersAndNestedClasses() {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        Samples.Enclosing.next = 8;
        List<Event> events = run(Samples.Enclosing.class);
        String name = Samples.Enclosing.class.getName();
        List<String> failures = failures(events);
        assertEquals(4, failures.size(), failures.toString());
        // bipush or iload_1, then invokestatic, pop, return, and 9 n + 9.
        assertStarts(name + "$Within.inherits executed 103 bytecodes, 3 more", failures.get(0));
        assertStarts(name + ".parameters(I)[2] executed 103 bytecodes, 3 more", failures.get(1));
        assertStarts(name + ".parameters(I)[4] executed 112 bytecodes, 12 more", failures.get(2));
        // getstatic, dup, iconst_1, iadd, putstatic, invokestatic, pop, return, and 9 n + 9.
        assertStarts(name + ".repeated[3] executed 107 bytecodes, 7 more", failures.get(3));
        // Two of the parameters, two repetitions, and the nested test with a budget of its own.
        assertEquals(5, count(events, TestExecutionResult.Status.SUCCESSFUL));
    }

    @Test
    void dynamicTestsHaveNoBudget() {
        Assumptions.assumeTrue(Counts.areRecorded(), "needs a profiled JDK");
        List<Event> events = EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(Samples.Dynamic.class)).execute().containerEvents().list();
        assertEquals(
            Arrays.asList(Samples.Dynamic.class.getName()
                + ".tests makes dynamic tests, which have no budget: use @ParameterizedTest"),
            failures(events));
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
        assertTrue(failures(run(Samples.WithinBudget.class, option, "x")).get(0)
            .contains("choose skip"));
        assertEquals(1, Samples.executed);
    }
}
