package dev.cctrewrite.junit;

import cctrewrite.api.Counts;
import java.lang.reflect.Method;
import java.nio.file.Paths;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.ReflectionSupport;
import org.opentest4j.TestAbortedException;

/**
 * Counts test methods and compares them with their budgets.
 *
 * <p>The configuration parameter {@code cctrewrite.unprofiled} says what happens on a JDK that is
 * not profiled: {@code skip} (the default), {@code run} without counting, or {@code fail}.
 */
public final class CountExtension implements InvocationInterceptor {
    private static final String UNPROFILED = "cctrewrite.unprofiled";
    private static final String UPDATE = "cctrewrite.update";

    /** For the JUnit platform. */
    public CountExtension() {}

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation,
            ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        count(invocation, method, context);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation,
            ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        count(invocation, method, context);
    }

    @Override
    public <T> T interceptTestFactoryMethod(
            Invocation<T> invocation,
            ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        if (isAnnotated(method.getExecutable())) {
            throw new AssertionError(Baseline.nameOf(context, method.getExecutable())
                + " makes dynamic tests, which have no budget: use @ParameterizedTest");
        }
        return invocation.proceed();
    }

    private static boolean isAnnotated(Method method) {
        return AnnotationSupport.isAnnotated(method, CountBudget.class)
            || AnnotationSupport.isAnnotated(method, MaxBytecodes.class)
            || AnnotationSupport.isAnnotated(method, SameAs.class);
    }

    private static void count(
            Invocation<Void> invocation,
            ReflectiveInvocationContext<Method> invoked,
            ExtensionContext context) throws Throwable {
        if (!Counts.areRecorded()) {
            withoutProfile(invocation, context);
            return;
        }
        Method method = invoked.getExecutable();
        Optional<CountBudget> budget = find(method, context, CountBudget.class);
        Optional<MaxBytecodes> most = find(method, context, MaxBytecodes.class);
        Optional<SameAs> same = find(method, context, SameAs.class);
        int warmUp = Math.max(budget.map(CountBudget::warmUp).orElse(0),
            same.map(SameAs::warmUp).orElse(0));
        for (int i = 0; i < warmUp; i++) {
            ReflectionSupport.invokeMethod(method, invoked.getTarget().orElse(null),
                invoked.getArguments().toArray());
        }
        String root =
            method.getDeclaringClass().getName() + "." + method.getName() + Descriptors.of(method);
        Counts before = Counts.below(root);
        invocation.proceed();
        Counts counts = Counts.below(root).since(before);
        String test = Baseline.nameOf(context, method);
        if (counts.isIncomplete()) {
            throw new AssertionError(test + " was not counted completely: contexts were merged; "
                + "allow more contexts (-Dcctrewrite.max-contexts) or give the JVM more memory");
        }
        if (budget.isPresent()) {
            CountBudget b = budget.get();
            Budget.check(test, counts, b.of(), b.bytecodes(), b.calls());
        }
        if (most.isPresent()) {
            Budget.check(test, counts, "", most.get().value(), -1);
        }
        if (same.isPresent()) {
            Baseline baseline = Baseline.read(Paths.get(same.get().value()));
            boolean update = context.getConfigurationParameter(UPDATE).map(Boolean::parseBoolean)
                .orElse(false);
            if (update) {
                baseline.store(test, counts);
            } else {
                baseline.check(test, counts, same.get().tolerance());
            }
        }
    }

    /** The annotation of the method, else that of its class or of a class around it. */
    private static <A extends java.lang.annotation.Annotation> Optional<A> find(
            Method method, ExtensionContext context, Class<A> type) {
        Optional<A> found = AnnotationSupport.findAnnotation(method, type);
        Class<?> enclosing = context.getRequiredTestClass();
        while (!found.isPresent() && enclosing != null) {
            found = AnnotationSupport.findAnnotation(enclosing, type);
            enclosing = enclosing.getEnclosingClass();
        }
        return found;
    }

    private static void withoutProfile(Invocation<Void> invocation, ExtensionContext context)
            throws Throwable {
        String reason = "nothing is counted: this JDK is not profiled, or recording is off; run "
            + "the tests by `cctrewrite run` or `mvn cctrewrite:test`, or choose " + UNPROFILED
            + "=run or fail";
        String choice = context.getConfigurationParameter(UNPROFILED).orElse("skip");
        switch (choice) {
            case "run":
                invocation.proceed();
                return;
            case "skip":
                invocation.skip();
                throw new TestAbortedException(reason);
            case "fail":
                invocation.skip();
                throw new AssertionError(reason);
            default:
                invocation.skip();
                throw new AssertionError(UNPROFILED + "=" + choice + ": choose skip, run or fail");
        }
    }
}
