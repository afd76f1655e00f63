package dev.cctrewrite.maven;

import org.apache.maven.plugins.annotations.Execute;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;

/**
 * Runs the project's tests on a profiled JDK: as <code>mvn test</code>, with
 * <code>cctrewrite:prepare</code> before the tests. Budgets of <code>cctrewrite-junit</code> hold,
 * and the profile of all tests is in <code>target/cctrewrite/tests.cct</code>.
 */
@Mojo(name = "test", threadSafe = true)
@Execute(phase = LifecyclePhase.TEST, lifecycle = "profiled")
public final class TestMojo extends AbstractTestMojo {}
