package cctrewrite.runtime;

import java.lang.reflect.Method;
import java.util.Arrays;

/** Finds out whether this JDK's class library declares a method. In bypass. */
public final class Declarations {
    private Declarations() {}

    /**
     * Whether {@code type} declares the method.
     *
     * <p>This does not use {@code Class.getDeclaredMethod}, for two reasons. It would cache all
     * methods of the class. If there is no such method, it throws an exception, and later JDKs
     * build the message with streams and lambdas. The JVM would then link these now, and not when
     * the program first uses them.
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
