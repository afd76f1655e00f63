package dev.cctrewrite.maven;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/**
 * Shows what the tests executed, after <code>cctrewrite:test</code> or
 * <code>cctrewrite:prepare verify</code>: the heaviest methods in the log, and all of the profile
 * as an HTML page.
 */
@Mojo(name = "report", threadSafe = true)
public final class ReportMojo extends AbstractCommandMojo {
    /** Another profile. Default: that of the tests. */
    @Parameter(property = "cctrewrite.profile")
    private File profile;

    /** The HTML page. */
    @Parameter(
        property = "cctrewrite.html",
        defaultValue = "${project.build.directory}/cctrewrite/tests.html")
    private File html;

    /** How many methods the log shows; 0 for none. */
    @Parameter(property = "cctrewrite.top", defaultValue = "10")
    private int top;

    /**
     * Adds the work of libraries to the project's methods that call them. The project's classes are
     * those in the output folders of its modules.
     */
    @Parameter(property = "cctrewrite.collapse", defaultValue = "true")
    private boolean collapse;

    @Override
    void run() throws MojoExecutionException {
        if (project().getPackaging().equals("pom") && profile == null) {
            return;
        }
        Command command = command();
        File shown =
            profile != null ? profile : new TestProfiles(folder()).merged(command, getLog());
        if (shown == null) {
            getLog().warn("no profile of tests below " + folder()
                + ": run `mvn cctrewrite:test` first, or name a profile by -Dcctrewrite.profile");
            return;
        }
        List<String> common = new ArrayList<>(Arrays.asList("report", shown.getPath()));
        if (collapse) {
            for (MavenProject module : session().getProjects()) {
                mineFrom(common, module.getBuild().getOutputDirectory());
                mineFrom(common, module.getBuild().getTestOutputDirectory());
            }
        }
        File folder = project().getBasedir();
        if (top > 0) {
            List<String> table = new ArrayList<>(common);
            table.addAll(Arrays.asList("--depth", "0", "--sort", "inclusive", "--top",
                String.valueOf(top)));
            command.runOrFail(folder, table, getLog()::info);
        }
        List<String> page = new ArrayList<>(common);
        page.addAll(Arrays.asList("--html", html.getPath()));
        command.runOrFail(folder, page, getLog()::debug);
        getLog().info("page: " + html);
    }

    private static void mineFrom(List<String> arguments, String folder) {
        if (new File(folder).isDirectory()) {
            arguments.addAll(Arrays.asList("--mine-from", folder));
        }
    }
}
