package dev.cctrewrite.maven;

import java.io.File;
import java.util.List;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.Component;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;
import org.apache.maven.toolchain.Toolchain;
import org.apache.maven.toolchain.ToolchainManager;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.repository.RemoteRepository;

/** A goal that calls the command. */
abstract class AbstractCommandMojo extends AbstractMojo {
    /**
     * The command <code>cctrewrite</code>. Default: the one on the PATH, else the artifact
     * <code>dev.cctrewrite:cctrewrite-cli</code> of this platform. Its version must be that of the
     * plugin.
     */
    @Parameter(property = "cctrewrite.command")
    private File command;

    /**
     * The home of the JDK that programs and tests run on, not profiled. Default: the JDK of the
     * toolchain that the project chooses, else the one that runs Maven.
     */
    @Parameter(property = "cctrewrite.jdk")
    private File jdk;

    /** Skips the goal. */
    @Parameter(property = "cctrewrite.skip", defaultValue = "false")
    private boolean skip;

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    private MavenProject project;

    @Parameter(defaultValue = "${session}", readonly = true, required = true)
    private MavenSession session;

    @Parameter(defaultValue = "${repositorySystemSession}", readonly = true, required = true)
    private RepositorySystemSession repositorySession;

    @Parameter(
        defaultValue = "${project.remotePluginRepositories}", readonly = true, required = true)
    private List<RemoteRepository> repositories;

    @Parameter(defaultValue = "${plugin.version}", readonly = true, required = true)
    private String version;

    @Component
    private RepositorySystem repositorySystem;

    @Component
    private ToolchainManager toolchains;

    @Override
    public final void execute() throws MojoExecutionException, MojoFailureException {
        if (skip) {
            getLog().info("skipped by cctrewrite.skip");
        } else {
            run();
        }
    }

    /** Does the work of the goal. */
    abstract void run() throws MojoExecutionException, MojoFailureException;

    final MavenProject project() {
        return project;
    }

    final MavenSession session() {
        return session;
    }

    /** The folder of the plugin's files. */
    final File folder() {
        return new File(project.getBuild().getDirectory(), "cctrewrite");
    }

    final Command command() throws MojoExecutionException {
        CommandFinder finder = new CommandFinder(
            repositorySystem, repositorySession, repositories, version, getLog());
        return finder.find(command, folder());
    }

    /** The home of the JDK to use. */
    final File jdk() throws MojoExecutionException {
        File home = jdk;
        if (home == null) {
            Toolchain toolchain = toolchains.getToolchainFromBuildContext("jdk", session);
            String java = toolchain == null ? null : toolchain.findTool("java");
            home = java == null
                ? new File(System.getProperty("java.home"))
                : new File(java).getParentFile().getParentFile();
        }
        // Up to JDK 8 java.home is the folder jre of the JDK.
        File parent = home.getAbsoluteFile().getParentFile();
        if (home.getName().equals("jre") && new File(parent, "bin/java").isFile()) {
            home = parent;
        }
        if (!new File(home, "bin/java").isFile()) {
            throw new MojoExecutionException("the parameter `jdk` (cctrewrite.jdk) names " + home
                + ", which is no JDK: there is no bin/java");
        }
        return home;
    }
}
