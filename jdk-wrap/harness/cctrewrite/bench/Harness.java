package cctrewrite.bench;

import cctrewrite.api.Recording;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/**
 * Runs a method of the program, the last time recorded: the JVM's side of {@code cctrewrite bench}
 * (docs/ci/bench.md), which looks only at what is below that method.
 */
public final class Harness {
    /** Exit code when the method has been run as often as it was to be. */
    private static final int DONE = 97;

    /** Exit code when it ended with an exception. */
    private static final int FAILED = 98;

    /** Exit code when there is no such method. */
    private static final int UNKNOWN = 99;

    private Harness() {}

    /**
     * @param args {@code Class.method}, and how often it is run before it is recorded
     */
    public static void main(String[] args) {
        int dot = args[0].lastIndexOf('.');
        Method method = null;
        Constructor<?> constructor = null;
        try {
            Class<?> type = Class.forName(args[0].substring(0, dot));
            method = find(type, args[0].substring(dot + 1));
            method.setAccessible(true);
            if (!Modifier.isStatic(method.getModifiers())) {
                constructor = type.getDeclaredConstructor();
                constructor.setAccessible(true);
            }
        } catch (Exception e) {
            System.err.println(e);
            System.exit(UNKNOWN);
        }
        try {
            for (int i = Integer.parseInt(args[1]); i > 0; i--) {
                method.invoke(constructor == null ? null : constructor.newInstance());
            }
            Object target = constructor == null ? null : constructor.newInstance();
            Recording.startAll(args[0]);
            method.invoke(target);
            Recording.stopAll();
        } catch (InvocationTargetException e) {
            Recording.stopAll();
            e.getCause().printStackTrace();
            System.exit(FAILED);
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(FAILED);
        }
        // Threads that the method has left behind are not waited for.
        System.exit(DONE);
    }

    /** The method without parameters, of the class or inherited. */
    private static Method find(Class<?> type, String name) throws NoSuchMethodException {
        for (Class<?> c = type; c != null; c = c.getSuperclass()) {
            try {
                return c.getDeclaredMethod(name);
            } catch (NoSuchMethodException e) {
                // Perhaps the superclass has it.
            }
        }
        throw new NoSuchMethodException(type.getName() + "." + name + "()");
    }
}
