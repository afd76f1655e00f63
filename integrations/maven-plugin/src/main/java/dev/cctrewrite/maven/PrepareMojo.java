package dev.cctrewrite.maven;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Lets Surefire and Failsafe run the tests on a profiled JDK: it sets the property <code>jvm</code>
 * that both read. Call it before a phase (<code>mvn cctrewrite:prepare verify</code>), or bind it
 * in the POM. The goals <code>test</code> and <code>integration-test</code> do this by themselves.
 */
@Mojo(name = "prepare", defaultPhase = LifecyclePhase.PROCESS_TEST_CLASSES, threadSafe = true)
public final class PrepareMojo extends AbstractCommandMojo {
    private static final String JVM = "jvm";
    private static final String[] RUNNERS = {"surefire", "failsafe"};

    /** Pins what differs from run to run, such as seeds of random numbers. */
    @Parameter(property = "cctrewrite.reproducible", defaultValue = "false")
    private boolean reproducible;

    /** Counts objects and arrays by type, too. */
    @Parameter(property = "cctrewrite.allocations", defaultValue = "false")
    private boolean allocations;

    /** Further options of <code>cctrewrite run</code>, such as <code>--call-sites</code>. */
    @Parameter(property = "cctrewrite.runOptions")
    private List<String> runOptions;

    @Override
    void run() throws MojoExecutionException {
        if (project().getPackaging().equals("pom")) {
            return;
        }
        if (System.getenv("CCTREWRITE_RUN") != null) {
            getLog().info("Maven runs under `cctrewrite run`, which profiles the tests");
            return;
        }
        refuseOwnJvm();
        List<String> all = new ArrayList<>();
        if (reproducible) {
            all.add("--reproducible");
        }
        if (allocations) {
            all.add("--allocations");
        }
        if (runOptions != null) {
            all.addAll(runOptions);
        }
        TestProfiles profiles = new TestProfiles(folder());
        try {
            profiles.clear();
            File java = new Launcher(command(), jdk(), profiles, all).write(folder());
            project().getProperties().setProperty(JVM, java.getPath());
            getLog().info("tests run on a profiled JDK: " + jdk());
        } catch (IOException e) {
            throw new MojoExecutionException("cannot write below " + folder() + ": " + e, e);
        }
    }

    /** A choice of the user wins over the property, so the tests would not be profiled. */
    private void refuseOwnJvm() throws MojoExecutionException {
        String instead = "; remove it, and name the JDK by the parameter `jdk` (cctrewrite.jdk) of "
            + "cctrewrite-maven-plugin";
        if (session().getUserProperties().containsKey(JVM)) {
            throw new MojoExecutionException("-D" + JVM + " is on the command line" + instead);
        }
        for (String runner : RUNNERS) {
            String name = "maven-" + runner + "-plugin";
            Plugin plugin = project().getPlugin("org.apache.maven.plugins:" + name);
            if (plugin == null) {
                continue;
            }
            List<Object> configurations = new ArrayList<>();
            configurations.add(plugin.getConfiguration());
            for (PluginExecution execution : plugin.getExecutions()) {
                configurations.add(execution.getConfiguration());
            }
            for (Object configuration : configurations) {
                if (value(configuration, JVM) != null) {
                    throw new MojoExecutionException(
                        "the configuration of " + name + " has <" + JVM + ">" + instead);
                }
                if ("0".equals(value(configuration, "forkCount"))
                        || "never".equals(value(configuration, "forkMode"))) {
                    throw new MojoExecutionException("the configuration of " + name
                        + " runs the tests in Maven's own JVM, which is not profiled: allow a fork "
                        + "(<forkCount>1</forkCount>), or use `cctrewrite run -- mvn test`");
                }
            }
        }
    }

    private static String value(Object configuration, String name) {
        Xpp3Dom child =
            configuration instanceof Xpp3Dom ? ((Xpp3Dom) configuration).getChild(name) : null;
        return child == null || child.getValue() == null ? null : child.getValue().trim();
    }
}
