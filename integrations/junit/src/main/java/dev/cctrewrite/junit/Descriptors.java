package dev.cctrewrite.junit;

import java.lang.reflect.Array;
import java.lang.reflect.Method;

/** Descriptors of methods (JVMS 4.3.3). */
final class Descriptors {
    private Descriptors() {}

    static String of(Method method) {
        return parametersOf(method) + of(method.getReturnType());
    }

    /** The part in parentheses. */
    static String parametersOf(Method method) {
        StringBuilder text = new StringBuilder("(");
        for (Class<?> parameter : method.getParameterTypes()) {
            text.append(of(parameter));
        }
        return text.append(')').toString();
    }

    private static String of(Class<?> type) {
        if (type == void.class) {
            return "V";
        }
        // The name of an array class is its descriptor, with dots.
        return Array.newInstance(type, 0).getClass().getName().substring(1).replace('.', '/');
    }
}
