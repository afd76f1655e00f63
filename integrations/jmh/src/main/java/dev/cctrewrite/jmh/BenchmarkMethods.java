package dev.cctrewrite.jmh;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;

/** Finds the methods behind a benchmark's name. */
final class BenchmarkMethods {
    private BenchmarkMethods() {}

    /**
     * The benchmark's methods: one, or those of a group. A method may be inherited.
     *
     * @param benchmark JMH's name: the class, with dots before nested ones, and method or group
     * @return for each the binary name of its class, a dot, and its name
     */
    static List<String> of(String benchmark) {
        int dot = benchmark.lastIndexOf('.');
        String name = benchmark.substring(dot + 1);
        Set<String> methods = new LinkedHashSet<>();
        for (Class<?> type = load(benchmark.substring(0, dot)); type != null;
                type = type.getSuperclass()) {
            List<String> declared = new ArrayList<>();
            for (Method method : type.getDeclaredMethods()) {
                if (method.isAnnotationPresent(Benchmark.class)
                        && name.equals(nameOf(method))) {
                    declared.add(type.getName() + '.' + method.getName());
                }
            }
            // Reflection returns methods in no fixed order.
            Collections.sort(declared);
            methods.addAll(declared);
        }
        if (methods.isEmpty()) {
            throw new IllegalStateException("cctrewrite finds no method of " + benchmark);
        }
        return new ArrayList<>(methods);
    }

    private static String nameOf(Method method) {
        Group group = method.getAnnotation(Group.class);
        return group == null ? method.getName() : group.value();
    }

    /** The class of a canonical name: dots before nested classes become dollar signs. */
    private static Class<?> load(String canonical) {
        String name = canonical;
        while (true) {
            try {
                return Class.forName(name, false, Thread.currentThread().getContextClassLoader());
            } catch (ClassNotFoundException e) {
                int dot = name.lastIndexOf('.');
                if (dot < 0) {
                    throw new IllegalStateException("cctrewrite finds no class " + canonical, e);
                }
                name = name.substring(0, dot) + '$' + name.substring(dot + 1);
            }
        }
    }
}
