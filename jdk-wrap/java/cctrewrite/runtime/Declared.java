package cctrewrite.runtime;

import java.lang.reflect.Method;
import java.util.Arrays;

/**
 * Which methods a class of the library has, where that differs from one JDK to another. In bypass.
 */
public final class Declared {
    private Declared() {}

    /**
     * Whether {@code type} declares such a method. {@code Class.getDeclaredMethod} would keep all
     * methods of the class; and it would say no with an exception, for whose message later JDKs use
     * streams and lambdas. These would be linked now, and not where the program uses them first.
     */
    public static boolean has(Class<?> type, String name, Class<?>... parameters) {
        Method[] methods = CctClasses.methods(type);
        for (int i = 0; i < methods.length; i++) {
            if (name.equals(methods[i].getName())
                    && Arrays.equals(parameters, methods[i].getParameterTypes())) {
                return true;
            }
        }
        return false;
    }
}
