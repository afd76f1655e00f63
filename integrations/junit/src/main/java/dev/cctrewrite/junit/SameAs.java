package dev.cctrewrite.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that executes no more than is stored in a file. {@code -Dcctrewrite.update=true} stores
 * what it executes now.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(CountExtension.class)
public @interface SameAs {
    /** The file, below the working folder of the tests (with Maven the module's folder). */
    String value() default "src/test/resources/cctrewrite-counts.tsv";

    /** How much more a test may execute, in percent. */
    double tolerance() default 0;

    /** How often the test method runs before it is counted, on the same object. */
    int warmUp() default 1;
}
