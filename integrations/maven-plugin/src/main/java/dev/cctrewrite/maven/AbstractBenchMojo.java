package dev.cctrewrite.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Parameter;

/** Counts the project's benchmarks by {@code cctrewrite bench}. */
abstract class AbstractBenchMojo extends AbstractCommandMojo {
    /** An entry grew, is not stored, or varies. Anything above: it could not be run. */
    private static final int FAILED = 1;

    /**
     * The methods to count, as <code>com.acme.Bench.parse</code> or with arguments. They are of the
     * project or of its tests. Default: everything that is stored.
     */
    @Parameter(property = "cctrewrite.benchmarks")
    private List<String> benchmarks;

    /** The file of stored counts, which belongs under version control. */
    @Parameter(
        property = "cctrewrite.baseline", defaultValue = "${project.basedir}/cctrewrite-bench.json")
    private File baseline;

    /** Stores the counts instead of comparing them. */
    @Parameter(property = "cctrewrite.update", defaultValue = "false")
    private boolean update;

    /** By how many percent a benchmark may grow. */
    @Parameter(property = "cctrewrite.failAbove", defaultValue = "0")
    private double failAbove;

    /** How often a benchmark runs before it is counted, so that its classes are loaded. */
    @Parameter(property = "cctrewrite.warmUp", defaultValue = "1")
    private int warmUp;

    /** In how many JVMs each benchmark runs. Default: 2, and 5 to store counts. */
    @Parameter(property = "cctrewrite.runs")
    private Integer runs;

    /**
     * With a baseline of another JDK: compares only what the program's own classes execute. Without
     * this it is an error.
     */
    @Parameter(property = "cctrewrite.allowMismatch", defaultValue = "false")
    private boolean allowMismatch;

    /**
     * Adds the work of the JDK to the methods that call it, so that a failure names a method of
     * yours or of a library instead of one of the JDK. What counts is the same. A baseline stored
     * with another choice must be stored anew.
     */
    @Parameter(property = "cctrewrite.collapse", defaultValue = "true")
    private boolean collapse;

    /** Options of the benchmarks' JVMs, such as <code>-Xmx2g</code>. */
    @Parameter(property = "cctrewrite.javaOptions")
    private List<String> javaOptions;

    /** Further options of <code>cctrewrite bench</code>, such as <code>--monitors</code>. */
    @Parameter(property = "cctrewrite.benchOptions")
    private List<String> benchOptions;

    /** Surefire's, which leaves the benchmarks among the tests uncompiled. */
    @Parameter(property = "maven.test.skip", defaultValue = "false", readonly = true)
    private boolean testsSkipped;

    /** Handles benchmarks that failed. */
    abstract void failed(String message) throws MojoFailureException;

    @Override
    final void run() throws MojoExecutionException, MojoFailureException {
        boolean none = benchmarks == null || benchmarks.isEmpty();
        if (none && !baseline.isFile()) {
            getLog().info("no benchmarks: neither <benchmarks> in the POM nor " + baseline);
            return;
        }
        if (testsSkipped) {
            getLog().info("skipped by maven.test.skip: the tests are not compiled");
            return;
        }
        String store = "mvn cctrewrite:bench -Dcctrewrite.update=true";
        if (!update && !baseline.isFile()) {
            throw new MojoFailureException("there are no stored counts, " + baseline
                + ": store them by `" + store + "`, and commit the file");
        }
        Command.Result result = command().run(project().getBasedir(), arguments(), getLog()::info);
        if (result.code > FAILED || result.code < 0) {
            throw new MojoExecutionException("the benchmarks cannot be counted:\n" + result.end());
        }
        if (result.code == FAILED) {
            List<String> reasons = result.startingWith("FAILED: ");
            String text = reasons.isEmpty() ? result.end() : String.join("\n", reasons);
            failed(text + "\nIf this is intended, store the new counts by `" + store
                + "`, and commit " + baseline.getName());
        }
    }

    private List<String> arguments() throws MojoExecutionException {
        List<String> path;
        try {
            path = project().getTestClasspathElements();
        } catch (DependencyResolutionRequiredException e) {
            throw new MojoExecutionException("the project's class path is not resolved", e);
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("bench",
            "--class-path", String.join(File.pathSeparator, path),
            "--baseline", baseline.getPath(),
            "--jdk", jdk().getPath(),
            "--warm-up", String.valueOf(warmUp)));
        if (update) {
            arguments.add("--update");
        } else {
            arguments.addAll(Arrays.asList("--fail-above", failAbove + "%"));
        }
        if (runs != null) {
            arguments.addAll(Arrays.asList("--runs", String.valueOf(runs)));
        }
        if (collapse) {
            arguments.add("--collapse-library");
        }
        if (allowMismatch) {
            arguments.add("--allow-mismatch");
        }
        for (String option : javaOptions == null ? new ArrayList<String>() : javaOptions) {
            arguments.add("--java-option=" + option);
        }
        if (benchOptions != null) {
            arguments.addAll(benchOptions);
        }
        if (benchmarks != null) {
            arguments.add("--");
            arguments.addAll(benchmarks);
        }
        return arguments;
    }
}
