package cctrewrite.runtime;

import java.lang.reflect.Method;

/**
 * The JVM's flags. Asks the load-time library, or else the management classes, which is slow. In
 * bypass.
 */
final class VmFlags {
    /** A flag that every HotSpot has. */
    private static final String ALWAYS_THERE = "MaxJavaStackTraceDepth";

    /** Null if the library answers. */
    private final Method getFlag;

    private final Method getValue;

    private VmFlags(Method getFlag, Method getValue) {
        this.getFlag = getFlag;
        this.getValue = getValue;
    }

    /** Null if the flags cannot be read. */
    static VmFlags open() {
        if (LoadTime.loaded() && LoadTime.flag(ALWAYS_THERE) != null) {
            return new VmFlags(null, null);
        }
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

    /**
     * The management classes' class for a flag. Loading the first class also loads the native
     * library of the second.
     */
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

    /**
     * A flag's value; null if this JVM does not know it, or (for the management classes) if the
     * flag is locked.
     */
    String value(String name) {
        if (getFlag == null) {
            return LoadTime.flag(name);
        }
        try {
            Object flag = getFlag.invoke(null, name);
            return flag == null ? null : String.valueOf(getValue.invoke(flag));
        } catch (Throwable e) {
            return null;
        }
    }
}
