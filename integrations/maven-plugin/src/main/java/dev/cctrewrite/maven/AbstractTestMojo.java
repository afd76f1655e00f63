package dev.cctrewrite.maven;

import java.io.File;
import org.apache.maven.plugin.MojoExecutionException;

/** Tells where the profile of the tests is. The fork of the goal has run them. */
abstract class AbstractTestMojo extends AbstractCommandMojo {
    @Override
    final void run() throws MojoExecutionException {
        File profile = new TestProfiles(folder()).merged(command(), getLog());
        if (profile == null) {
            getLog().info("no test ran, so there is no profile");
        } else {
            getLog().info("profile of the tests: " + profile
                + " (`mvn cctrewrite:report` shows it)");
        }
    }
}
