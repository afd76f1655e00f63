package dev.cctrewrite.jmh;

import cctrewrite.api.Counts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;

/**
 * The profiler {@code cctrewrite} of JMH: what an operation executes, in the benchmark method and
 * below it.
 *
 * <p>JMH calls it in the thread that waits for the benchmark's threads, before they begin an
 * iteration and after they have ended it.
 */
public final class CountProfiler implements InternalProfiler {
    /** Option for the number of methods that are listed. */
    private static final String TOP = "top=";
    private static final int DEFAULT_TOP = 5;

    private final int top;

    /** Iterations of the last type so far, so that only the last one lists methods. */
    private int iterations;
    private List<String> methods = Collections.emptyList();
    private Counts[] before = {};

    /** Creates the profiler without options; JMH calls it. */
    public CountProfiler() throws ProfilerException {
        this("");
    }

    /**
     * Creates the profiler.
     *
     * @param options empty, or {@code top=N}: how many methods are listed
     * @throws ProfilerException if the options are wrong, or this JDK is not profiled
     */
    public CountProfiler(String options) throws ProfilerException {
        if (options == null || options.isEmpty()) {
            top = DEFAULT_TOP;
        } else if (options.matches(TOP + "[0-9]{1,6}")) {
            top = Integer.parseInt(options.substring(TOP.length()));
        } else {
            throw new ProfilerException(
                "unknown options '" + options + "'; the only one is " + TOP + "N");
        }
        if (!Counts.areRecorded()) {
            throw new ProfilerException("this JDK is not profiled: run "
                + "`cctrewrite run -- java -jar benchmarks.jar -prof "
                + CountProfiler.class.getName() + "`");
        }
    }

    @Override
    public String getDescription() {
        return "Exact bytecodes and calls of each operation, on a JDK profiled by cctrewrite";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (methods.isEmpty()) {
            methods = BenchmarkMethods.of(benchmark.getBenchmark());
        }
        before = read();
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        Counts[] after = read();
        OperationCounts counts = new OperationCounts(result.getMetadata().getAllOps());
        for (int i = 0; i < after.length; i++) {
            counts.add(after[i].since(before[i]));
        }
        List<Result<?>> results = new ArrayList<>();
        if (counts.hasBytecodes()) {
            results.add(scalar("bytecodes", counts.bytecodes()));
        }
        results.add(scalar("calls", counts.calls()));
        iterations++;
        if (iterations == iteration.getCount()) {
            iterations = 0;
            results.add(new TextResult(counts.top(top), "cctrewrite"));
        }
        return results;
    }

    private Counts[] read() {
        Counts[] counts = new Counts[methods.size()];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = Counts.belowInOtherThreads(methods.get(i));
        }
        return counts;
    }

    private static Result<?> scalar(String name, double value) {
        return new ScalarResult("cctrewrite." + name, value, "#/op", AggregationPolicy.AVG);
    }
}
