package java.lang;

import cctrewrite.runtime.Offsets;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Reads names and members of classes without side effects. {@code Class} caches them, and after
 * that the program would no longer compute them itself. In bypass.
 */
public final class CctClasses {
    private static final long NAME = Offsets.of(Class.class, "name");

    private CctClasses() {}

    /** As {@code Class.getName}. */
    public static String name(Class<?> type) {
        boolean isKnown = CctMemory.U.getObject(type, NAME) != null;
        String name = type.getName();
        if (!isKnown) {
            CctMemory.U.putObject(type, NAME, null);
        }
        return name;
    }

    /**
     * As {@code Class.getDeclaredField}, but also finds fields that reflection hides; null if there
     * is none.
     */
    public static Field field(Class<?> type, String name) {
        Field[] fields = type.cct$getDeclaredFields0(false);
        for (int i = 0; i < fields.length; i++) {
            if (fields[i].getName().equals(name)) {
                return fields[i];
            }
        }
        return null;
    }

    /** As {@code Class.getDeclaredMethods}, with the methods that the rewriter has added. */
    public static Method[] methods(Class<?> type) {
        return type.cct$getDeclaredMethods0(false);
    }
}
