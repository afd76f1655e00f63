package dev.cctrewrite.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The most that a test may execute. On a class: each of its tests.
 *
 * <p>What counts is what the test method executes in its own thread, callees included, without the
 * work of JUnit and of methods that run before and after it. On a JDK that is not profiled the test
 * is skipped ({@link CountExtension}).
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(CountExtension.class)
public @interface CountBudget {
    /** The most bytecodes; negative for no limit. */
    long bytecodes() default -1;

    /** The most entries of methods; negative for no limit. */
    long calls() default -1;

    /**
     * The classes whose own work counts, for instance {@code com.acme.**}; empty for all. {@code *}
     * stands for anything but a dot, {@code **} for anything.
     */
    String of() default "";

    /**
     * How often the test method runs before it is counted, on the same object. The first execution
     * of code also loads classes.
     */
    int warmUp() default 0;
}
