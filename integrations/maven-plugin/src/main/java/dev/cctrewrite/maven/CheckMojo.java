package dev.cctrewrite.maven;

import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.ResolutionScope;

/**
 * Fails the build if a benchmark of the project executes more bytecodes than the stored counts
 * allow. The message names the method that grew most. <code>-Dcctrewrite.update=true</code> stores
 * the counts instead.
 */
@Mojo(
    name = "check",
    defaultPhase = LifecyclePhase.VERIFY,
    threadSafe = true,
    requiresDependencyResolution = ResolutionScope.TEST)
public final class CheckMojo extends AbstractBenchMojo {
    @Override
    void failed(String message) throws MojoFailureException {
        throw new MojoFailureException(message);
    }
}
