// One class with as many kinds of attributes and instructions as Java 17 can make. The class files
// beside this source:
//   javac --release 17 -g -parameters -d classes Everything.java module-info.java
package everything;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;

@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER, ElementType.PARAMETER, ElementType.METHOD})
@Repeatable(Marks.class)
@interface Mark {
    int number() default 7;
    String[] names() default {"a", "b"};
    Class<?> type() default int[].class;
    RetentionPolicy policy() default RetentionPolicy.CLASS;
    Inner[] inner() default {@Inner(1), @Inner(c = 'x')};
}

@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE_USE, ElementType.TYPE_PARAMETER, ElementType.PARAMETER, ElementType.METHOD})
@interface Marks {
    Mark[] value();
}

@Retention(RetentionPolicy.CLASS)
@interface Inner {
    long value() default 1L << 40;
    char c() default 'c';
    double d() default 2.5;
    float f() default 1.5f;
    boolean z() default true;
    byte b() default 1;
    short s() default 2;
}

public class Everything<@Mark T extends @Mark Comparable<@Mark T>> extends @Mark ArrayList<@Mark T>
        implements Callable<Integer> {

    public sealed interface Shape permits Circle, Square {}

    public record Circle(@Mark(number = 1) double radius, List<@Mark String> names) implements Shape {}

    public record Square(float side) implements Shape {}

    static final int INT = 123456789;
    static final long LONG = 1234567890123L;
    static final float FLOAT = 1.25f;
    static final double DOUBLE = 6.25;
    static final String STRING = "text\0\u00e9\u4e2d";
    @Deprecated @Mark Map<? extends @Mark Object, @Mark String @Mark []> field;

    @Mark
    @Mark(number = 2)
    <@Mark X extends @Mark Exception> @Mark int annotated(
            @Mark Everything<T> this, @Inner final int a, @Mark(type = String.class) X b) throws @Mark X {
        @Mark List<@Mark Integer> local = new @Mark ArrayList<@Mark Integer>();
        try (java.io.@Mark StringReader reader = new java.io.StringReader(STRING)) {
            reader.read();
        } catch (@Mark RuntimeException | java.io.IOException e) {
            local.add((@Mark Integer) e.hashCode());
        }
        Object o = local;
        if (o instanceof @Mark List<?> list) {
            Supplier<List<Integer>> make = @Mark ArrayList<Integer>::new;
            Function<Integer, String> show = @Mark Everything::<@Mark Integer>shown;
            return list.size() + make.get().size() + show.apply(a).length() + this.<@Mark Integer>same(a);
        }
        return 0;
    }

    <A> A same(A a) {
        return a;
    }

    static <A> String shown(A a) {
        return a.toString();
    }

    @Override
    public Integer call() throws Exception {
        class Local {
            int twice(int x) {
                return 2 * x;
            }
        }
        Callable<Integer> anonymous = new Callable<>() {
            public Integer call() {
                return new Local().twice(3);
            }
        };
        int sum = anonymous.call();
        long big = 0;
        for (int i = 0; i < 1000; i += 300) {
            switch (i) {
                case 0: case 1: case 2: sum++; break;
                case 300: big += i; // falls through
                default: big ^= sum;
            }
        }
        switch (STRING + sum) {
            case "one" -> sum += 1;
            case "two" -> sum += 2;
            default -> sum = (int) (sum > 3 ? big : LONG);
        }
        switch (sum) {
            case 1: return 5;
            case 100000: return 6;
            case -7: return 7;
        }
        int[][][] cube = new int[2][3][];
        synchronized (this) {
            try {
                cube[1][2] = new int[] {sum, cube.length};
            } finally {
                field = null;
            }
        }
        double d = DOUBLE * sum % 3;
        float f = -FLOAT / (float) d;
        return (int) f + new Circle(f, null).hashCode() + (new Square(1) instanceof Shape ? 1 : 0);
    }

    native int nothing();
}
