package cctrewrite.bench;

import cctrewrite.api.Recording;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Runs a method of the program and records the last run: the JVM's side of {@code cctrewrite bench}
 * (docs/ci/bench.md). That command evaluates only the contexts below this method.
 */
public final class Harness {
    /** Exit code after all requested runs of the method. */
    private static final int DONE = 97;

    /** Exit code after an exception from the method. */
    private static final int FAILED = 98;

    /** Exit code for a method that does not exist. */
    private static final int UNKNOWN = 99;

    private final String[] words;
    private int next;

    private Harness(String[] words) {
        this.words = words;
    }

    /**
     * Runs a method.
     *
     * @param args the number of runs before the recorded one; the class; {@code default},
     *     {@code new} or {@code factory}, a name and arguments; {@code method}, its name and
     *     arguments. A list of arguments begins with its length. An argument is {@code q} and a
     *     string, or {@code b} and a number, {@code true}, {@code false}, {@code null} or an enum
     *     constant.
     */
    public static void main(String[] args) {
        int warmUp = 0;
        Call receiver = null;
        Call call = null;
        try {
            Harness words = new Harness(args);
            warmUp = Integer.parseInt(words.word());
            Class<?> type = Class.forName(words.word());
            String kind = words.word();
            String name = words.word();
            String[] arguments = words.list();
            words.word();
            String method = words.word();
            String[] methodArguments = words.list();
            if (kind.equals("new")) {
                receiver = Call.of(constructors(type), type.getName(), arguments);
            } else if (kind.equals("factory")) {
                receiver = Call.of(methods(type, name, true), type.getName() + "." + name, arguments);
                type = ((Method) receiver.target).getReturnType();
            }
            call = Call.of(methods(type, method, false), type.getName() + "." + method, methodArguments);
            if (receiver == null && !call.isStatic()) {
                receiver = Call.of(constructors(type), type.getName(), new String[0]);
            }
        } catch (Exception e) {
            System.err.println(e);
            System.exit(UNKNOWN);
        }
        try {
            for (int i = warmUp; i > 0; i--) {
                call.run(receiver == null ? null : receiver.run(null));
            }
            Object object = receiver == null ? null : receiver.run(null);
            Method method = ((Method) call.target);
            Recording.startAll(declaring(method, object).getName() + "." + method.getName());
            call.run(object);
            Recording.stopAll();
        } catch (InvocationTargetException e) {
            Recording.stopAll();
            e.getCause().printStackTrace();
            System.exit(FAILED);
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(FAILED);
        }
        // Do not wait for threads that the method has started.
        System.exit(DONE);
    }

    private String word() {
        return words[next++];
    }

    private String[] list() {
        int length = Integer.parseInt(word());
        next += length;
        return Arrays.copyOfRange(words, next - length, next);
    }

    private static List<Executable> constructors(Class<?> type) {
        return Arrays.<Executable>asList(type.getDeclaredConstructors());
    }

    /**
     * The methods of that name, declared or inherited, with those of the most derived class first.
     */
    private static List<Executable> methods(Class<?> type, String name, boolean isStatic) {
        List<Executable> found = new ArrayList<Executable>();
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            add(c, name, isStatic, found);
        }
        for (Method method : type.getMethods()) {
            if (method.getDeclaringClass().isInterface()) {
                add(method.getDeclaringClass(), name, isStatic, found);
            }
        }
        return found;
    }

    private static void add(Class<?> type, String name, boolean isStatic, List<Executable> found) {
        for (Method method : type.getDeclaredMethods()) {
            boolean fits = method.getName().equals(name) && !method.isBridge()
                && (!isStatic || Modifier.isStatic(method.getModifiers()));
            for (Executable other : found) {
                fits &= !Arrays.equals(other.getParameterTypes(), method.getParameterTypes());
            }
            if (fits) {
                found.add(method);
            }
        }
    }

    /** The class whose method runs: that of the override in the object's class. */
    private static Class<?> declaring(Method method, Object object) {
        if (object != null && !Modifier.isPrivate(method.getModifiers())) {
            for (Class<?> c = object.getClass(); c != null; c = c.getSuperclass()) {
                try {
                    Class<?>[] parameters = method.getParameterTypes();
                    return c.getDeclaredMethod(method.getName(), parameters).getDeclaringClass();
                } catch (NoSuchMethodException e) {
                    // The superclass may declare it.
                }
            }
        }
        return method.getDeclaringClass();
    }

    /** A method or constructor, and its arguments. */
    private static final class Call {
        final Executable target;
        private final Object[] arguments;

        private Call(Executable target, Object[] arguments) {
            this.target = target;
            this.arguments = arguments;
        }

        /** The candidate whose parameters fit the arguments best. */
        static Call of(List<Executable> candidates, String name, String[] arguments)
                throws NoSuchMethodException {
            Call best = null;
            int least = Integer.MAX_VALUE;
            List<Executable> ambiguous = new ArrayList<Executable>();
            for (Executable candidate : candidates) {
                Class<?>[] types = candidate.getParameterTypes();
                Object[] values = new Object[types.length];
                int distance = types.length == arguments.length ? 0 : -1;
                for (int i = 0; i < types.length && distance >= 0; i++) {
                    int one = Values.distance(arguments[i], types[i]);
                    distance = one < 0 ? -1 : distance + one;
                    values[i] = one < 0 ? null : Values.of(arguments[i], types[i]);
                }
                if (distance < 0) {
                    continue;
                }
                if (distance == least) {
                    ambiguous.add(candidate);
                } else if (distance < least) {
                    least = distance;
                    best = new Call(candidate, values);
                    ambiguous = new ArrayList<Executable>(Collections.singletonList(candidate));
                }
            }
            if (best == null) {
                throw new NoSuchMethodException(name + "(" + (arguments.length == 0 ? "" : "...") + ")"
                    + (candidates.isEmpty() || arguments.length == 0 ? "" : "; there are " + candidates));
            }
            if (ambiguous.size() > 1) {
                throw new NoSuchMethodException(name + ": these fit equally well: " + ambiguous);
            }
            ((AccessibleObject) best.target).setAccessible(true);
            return best;
        }

        boolean isStatic() {
            return Modifier.isStatic(target.getModifiers());
        }

        Object run(Object receiver) throws ReflectiveOperationException {
            if (target instanceof Constructor) {
                return ((Constructor<?>) target).newInstance(arguments);
            }
            return ((Method) target).invoke(receiver, arguments);
        }
    }
}
