package dev.cctrewrite.maven;

import org.apache.maven.plugins.annotations.Execute;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.ResolutionScope;

/**
 * Counts what the project's benchmarks execute, and shows how that differs from the stored counts;
 * with <code>-Dcctrewrite.update=true</code> it stores them. Growth is a warning
 * (<code>cctrewrite:check</code> fails). It compiles the project before.
 */
@Mojo(
    name = "bench", threadSafe = true, requiresDependencyResolution = ResolutionScope.TEST)
@Execute(phase = LifecyclePhase.PROCESS_TEST_CLASSES)
public final class BenchMojo extends AbstractBenchMojo {
    @Override
    void failed(String message) {
        getLog().warn(message);
    }
}
