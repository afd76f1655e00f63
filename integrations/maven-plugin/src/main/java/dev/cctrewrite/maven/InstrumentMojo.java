package dev.cctrewrite.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.artifact.DependencyResolutionRequiredException;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;
import org.apache.maven.project.MavenProjectHelper;

/**
 * Rewrites the project's jar or WAR for a profiled JDK, so that no time is spent on that when it
 * starts: <code>target/profiled/NAME.jar</code>. It does nothing if that is up to date.
 */
@Mojo(
    name = "instrument",
    defaultPhase = LifecyclePhase.PACKAGE,
    threadSafe = true,
    requiresDependencyResolution = ResolutionScope.RUNTIME)
public final class InstrumentMojo extends AbstractCommandMojo {
    /** The folder of the rewritten file. */
    @Parameter(
        property = "cctrewrite.outputDirectory",
        defaultValue = "${project.build.directory}/profiled")
    private File outputDirectory;

    /** Also rewrites the jars in the Class-Path of the manifest, which must lie beside the jar. */
    @Parameter(property = "cctrewrite.classPath", defaultValue = "false")
    private boolean classPath;

    /** Attaches the rewritten file to the project, with the classifier <code>profiled</code>. */
    @Parameter(property = "cctrewrite.attach", defaultValue = "false")
    private boolean attach;

    /**
     * Further options of <code>cctrewrite instrument</code>, such as
     * <code>--exclude=org.slf4j.**</code>.
     */
    @Parameter(property = "cctrewrite.instrumentOptions")
    private List<String> instrumentOptions;

    @Component
    private MavenProjectHelper helper;

    @Override
    void run() throws MojoExecutionException {
        if (project().getPackaging().equals("pom")) {
            return;
        }
        File input = project().getArtifact().getFile();
        if (input == null || !input.isFile()) {
            throw new MojoExecutionException(
                "the project has no jar yet: run `mvn package`, or bind the goal in the POM");
        }
        File output = new File(outputDirectory, input.getName());
        List<String> arguments = new ArrayList<>(Arrays.asList("instrument", input.getPath(),
            "--if-changed", "--library", jdk().getPath(), "-o", output.getPath()));
        for (String library : libraries()) {
            arguments.addAll(Arrays.asList("--library", library));
        }
        if (classPath) {
            arguments.add("--class-path");
        }
        if (instrumentOptions != null) {
            arguments.addAll(instrumentOptions);
        }
        try {
            Files.createDirectories(outputDirectory.toPath());
        } catch (IOException e) {
            throw new MojoExecutionException("cannot make " + outputDirectory, e);
        }
        command().runOrFail(project().getBasedir(), arguments, getLog()::info);
        if (attach) {
            String type = project().getArtifact().getArtifactHandler().getExtension();
            helper.attachArtifact(project(), type, "profiled", output);
        }
    }

    /** What the project's classes use beside the JDK. */
    private List<String> libraries() throws MojoExecutionException {
        try {
            List<String> path = new ArrayList<>(project().getRuntimeClasspathElements());
            path.remove(project().getBuild().getOutputDirectory());
            path.removeIf(element -> !new File(element).exists());
            return path;
        } catch (DependencyResolutionRequiredException e) {
            throw new MojoExecutionException("the project's class path is not resolved", e);
        }
    }
}
