package cctrewrite.runtime;

import java.lang.reflect.Method;

/** The JVM's flags. In bypass. */
final class VmFlags {
    private final Method getFlag;
    private final Method getValue;

    private VmFlags(Method getFlag, Method getValue) {
        this.getFlag = getFlag;
        this.getValue = getValue;
    }

    /** Null where they cannot be looked up. */
    static VmFlags open() {
        try {
            Class<?> type = type();
            Method getFlag = type.getDeclaredMethod("getFlag", String.class);
            getFlag.setAccessible(true);
            Method getValue = type.getDeclaredMethod("getValue");
            getValue.setAccessible(true);
            return new VmFlags(getFlag, getValue);
        } catch (Throwable e) {
            return null;
        }
    }

    /** The management classes' view of a flag; the first class named loads the native library behind the second. */
    private static Class<?> type() throws ClassNotFoundException {
        try {
            Class.forName("sun.management.ManagementFactoryHelper");
            return Class.forName("sun.management.Flag");
        } catch (ClassNotFoundException e) {
            // Since JDK 9. Module java.base may look into all others.
            Class.forName("com.sun.management.internal.PlatformMBeanProviderImpl");
            return Class.forName("com.sun.management.internal.Flag");
        }
    }

    /** A flag's value; null when this JVM does not know it, or keeps it locked. */
    String value(String name) {
        try {
            Object flag = getFlag.invoke(null, name);
            return flag == null ? null : String.valueOf(getValue.invoke(flag));
        } catch (Throwable e) {
            return null;
        }
    }
}
