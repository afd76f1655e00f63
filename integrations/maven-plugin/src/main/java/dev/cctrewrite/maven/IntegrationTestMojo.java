package dev.cctrewrite.maven;

import org.apache.maven.plugins.annotations.Execute;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/**
 * Runs the project's tests and integration tests on a profiled JDK: as <code>mvn verify</code>,
 * with <code>cctrewrite:prepare</code> before the tests.
 */
@Mojo(name = "integration-test", threadSafe = true)
@Execute(phase = LifecyclePhase.VERIFY, lifecycle = "profiled")
public final class IntegrationTestMojo extends AbstractTestMojo {}
