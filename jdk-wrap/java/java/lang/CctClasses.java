package java.lang;

import cctrewrite.runtime.Offsets;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * Looks at classes without leaving anything behind: {@code Class} keeps what it has found out of
 * itself (its name, its members), and the program would not find it out any more. In bypass.
 */
public final class CctClasses {
    private static final long NAME = Offsets.of(Class.class, "name");

    private CctClasses() {}

    /** {@code Class.getName}. */
    public static String name(Class<?> type) {
        boolean isKnown = CctMemory.U.getObject(type, NAME) != null;
        String name = type.getName();
        if (!isKnown) {
            CctMemory.U.putObject(type, NAME, null);
        }
        return name;
    }

    /**
     * {@code Class.getDeclaredField}, of a field that reflection may hide, too; null if there is
     * none.
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

    /** {@code Class.getDeclaredMethods}, with those that the rewriter has added. */
    public static Method[] methods(Class<?> type) {
        return type.cct$getDeclaredMethods0(false);
    }
}
