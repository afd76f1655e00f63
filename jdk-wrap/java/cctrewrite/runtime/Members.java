package cctrewrite.runtime;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;

/**
 * An order of a class's members that is the same in every run: by name, number and types of
 * parameters, and result type. HotSpot's order is that of the names' addresses in memory, and
 * differs from run to run. In bypass.
 */
public final class Members {
    private Members() {}

    /** Sorts in place. */
    public static Method[] sorted(Method[] methods) {
        for (int i = 1; i < methods.length; i++) {
            Method method = methods[i];
            int low = 0;
            for (int high = i; low < high; ) {
                int middle = low + high >>> 1;
                if (compare(methods[middle], method) <= 0) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            System.arraycopy(methods, low, methods, low + 1, i - low);
            methods[low] = method;
        }
        return methods;
    }

    /** Sorts in place. */
    public static Constructor<?>[] sorted(Constructor<?>[] constructors) {
        for (int i = 1; i < constructors.length; i++) {
            Constructor<?> constructor = constructors[i];
            Class<?>[] parameters = constructor.getParameterTypes();
            int k = i;
            for (; k > 0 && compare(constructors[k - 1].getParameterTypes(), parameters) > 0; k--) {
                constructors[k] = constructors[k - 1];
            }
            constructors[k] = constructor;
        }
        return constructors;
    }

    private static int compare(Method a, Method b) {
        int order = a.getName().compareTo(b.getName());
        if (order == 0) {
            order = compare(a.getParameterTypes(), b.getParameterTypes());
        }
        return order != 0 ? order : CctClasses.name(a.getReturnType())
                .compareTo(CctClasses.name(b.getReturnType()));
    }

    private static int compare(Class<?>[] a, Class<?>[] b) {
        if (a.length != b.length) {
            return a.length < b.length ? -1 : 1;
        }
        for (int i = 0; i < a.length; i++) {
            int order = CctClasses.name(a[i]).compareTo(CctClasses.name(b[i]));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }
}
