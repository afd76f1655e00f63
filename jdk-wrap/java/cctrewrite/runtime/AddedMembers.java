package cctrewrite.runtime;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/**
 * Hides the members that the rewriter adds to classes from reflection, and so from
 * serialVersionUID, Proxy and annotation processing. In bypass.
 *
 * <p>Added methods and constructors are synthetic, and their last parameter is the marker parameter
 * (docs/internals/runtime.md). The names of helpers and of the field of Thread start with
 * {@code cct$}.
 */
public final class AddedMembers {
    private static final int ACC_SYNTHETIC = 0x1000;
    private static final String PREFIX = "cct$";

    /** Prefix of the name of a renamed native (docs/reference/natives.md). */
    public static final String NATIVE_PREFIX = "cct$native$";
    private static final int KEPT_BY_NATIVES = Modifier.NATIVE | Modifier.SYNCHRONIZED;

    private AddedMembers() {}

    public static Method[] methods(Method[] all) {
        int kept = 0;
        for (int i = 0; i < all.length; i++) {
            if (!added(all[i])) {
                kept++;
            }
        }
        if (kept == all.length) {
            return all;
        }
        Method[] rest = new Method[kept];
        for (int i = 0, k = 0; i < all.length; i++) {
            if (!added(all[i])) {
                rest[k++] = all[i];
            }
        }
        for (int i = 0; i < all.length; i++) {
            if (Prefix.of(all[i].getName(), NATIVE_PREFIX)) {
                stand(all[i], rest);
            }
        }
        return rest;
    }

    /** Gives the method that replaces a renamed native the flags of that native. */
    private static void stand(Method renamed, Method[] rest) {
        String name = renamed.getName().substring(NATIVE_PREFIX.length());
        for (int i = 0; i < rest.length; i++) {
            if (rest[i].getName().equals(name)
                    && rest[i].getReturnType() == renamed.getReturnType()
                    && Arrays.equals(rest[i].getParameterTypes(), renamed.getParameterTypes())) {
                int flags = rest[i].getModifiers() | renamed.getModifiers() & KEPT_BY_NATIVES;
                CctMemory.U.putInt(rest[i], Modifiers.OFFSET, flags);
            }
        }
    }

    public static Constructor<?>[] constructors(Constructor<?>[] all) {
        int kept = 0;
        for (int i = 0; i < all.length; i++) {
            if (!added(all[i])) {
                kept++;
            }
        }
        if (kept == all.length) {
            return all;
        }
        Constructor<?>[] rest = new Constructor<?>[kept];
        for (int i = 0, k = 0; i < all.length; i++) {
            if (!added(all[i])) {
                rest[k++] = all[i];
            }
        }
        return rest;
    }

    public static Field[] fields(Field[] all) {
        int kept = 0;
        for (int i = 0; i < all.length; i++) {
            if (!all[i].getName().startsWith(PREFIX)) {
                kept++;
            }
        }
        if (kept == all.length) {
            return all;
        }
        Field[] rest = new Field[kept];
        for (int i = 0, k = 0; i < all.length; i++) {
            if (!all[i].getName().startsWith(PREFIX)) {
                rest[k++] = all[i];
            }
        }
        return rest;
    }

    private static boolean added(Method method) {
        return (method.getModifiers() & ACC_SYNTHETIC) != 0 && marked(method.getParameterTypes())
                || method.getName().startsWith(PREFIX);
    }

    private static boolean added(Constructor<?> constructor) {
        return (constructor.getModifiers() & ACC_SYNTHETIC) != 0
                && marked(constructor.getParameterTypes());
    }

    private static boolean marked(Class<?>[] parameters) {
        return parameters.length > 0 && parameters[parameters.length - 1] == long[][][][].class;
    }

    private static final class Modifiers {
        /** Offset of the field in which a method keeps its flags. */
        static final long OFFSET = Offsets.of(Method.class, "modifiers");
    }
}
