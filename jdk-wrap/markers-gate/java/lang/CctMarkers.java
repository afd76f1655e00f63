package java.lang;

import cctrewrite.markers.Gate;
import java.lang.invoke.MethodHandles;
import jdk.internal.vm.Continuation;

/**
 * The entry point of marked classes of a class library, in a package that every module and every
 * loader can access. It also reads and writes a thread's marker stack. That is a field that the
 * rewriter adds to {@code Thread}, since a thread-local variable would itself reach markers.
 */
public final class CctMarkers {
    /** Whether this JDK has virtual threads. The code must not name their class in an older JDK. */
    private static boolean virtual;

    private CctMarkers() {}

    public static boolean isReady() {
        return Gate.isReady();
    }

    public static Object register(MethodHandles.Lookup lookup, String[] rows) {
        return Gate.register(lookup, rows);
    }

    public static Object register(Class<?> owner, String[] rows) {
        return Gate.register(owner, rows);
    }

    public static int bits(Object table, int word) {
        return Gate.bits(table, word);
    }

    public static void settled(Object table) {
        Gate.settled(table);
    }

    public static void abandoned() {
        Gate.abandoned();
    }

    public static Object tableOf(Class<?> owner) {
        return Gate.tableOf(owner);
    }

    public static boolean isOn(Object table, int index) {
        return Gate.isOn(table, index);
    }

    public static Object enter(Object table, int index, Object receiver) {
        return Gate.enter(table, index, receiver);
    }

    public static Object enter(Object table, int index, Object receiver, Object[] arguments) {
        return Gate.enter(table, index, receiver, arguments);
    }

    public static void exit(Object token) {
        Gate.exit(token);
    }

    public static void exit(Object token, Object receiver) {
        Gate.exit(token, receiver);
    }

    public static void returned(Object token, Object result) {
        Gate.returned(token, result);
    }

    public static void answered(Object token, boolean result) {
        Gate.answered(token, result);
    }

    public static void thrown(Object token) {
        Gate.thrown(token);
    }

    public static void at(Object table, int index, Object receiver) {
        Gate.at(table, index, receiver);
    }

    public static void at(Object table, int index, Object receiver, Object[] arguments) {
        Gate.at(table, index, receiver, arguments);
    }

    /**
     * For {@code Module.defineModule0} since JDK 12: the packages that the JVM gets for a module.
     * For {@code java.base} this adds the runtime's packages. Without them the JVM would not find
     * the runtime's classes. The module descriptor, which programs see, does not contain them.
     */
    public static Object[] packages(Object[] all) {
        return isBase(all) ? withOurs(all, new Object[all.length + 2]) : all;
    }

    /** For {@code Module.defineModule0} of JDK 9 to 11. */
    public static String[] packages(String[] all) {
        return isBase(all) ? (String[]) withOurs(all, new String[all.length + 2]) : all;
    }

    /**
     * Whether this is {@code java.base} without the runtime's packages. A patched module has them
     * already.
     */
    private static boolean isBase(Object[] packages) {
        boolean isBase = false;
        if (packages != null) {
            for (int i = 0; i < packages.length; i++) {
                if ("cctrewrite.markers".equals(packages[i])) {
                    return false;
                }
                isBase |= "java.lang".equals(packages[i]);
            }
        }
        return isBase;
    }

    private static Object[] withOurs(Object[] all, Object[] more) {
        System.arraycopy(all, 0, more, 0, all.length);
        more[all.length] = "cctrewrite.markers";
        more[all.length + 1] = "cctrewrite.typestate";
        return more;
    }

    /** The launcher is about to load the program: the JVM has booted. */
    public static void launched() {
        String version = System.getProperty("java.specification.version");
        // "1.8", "11", "21".
        virtual = version.length() == 2 && version.compareTo("21") >= 0;
        Gate.launched();
    }

    /**
     * Keeps the current thread on its carrier, if it is a virtual one. Returns the argument for
     * {@link #unpin}. See docs/internals/runtime.md.
     */
    public static boolean pin() {
        if (virtual && Thread.currentThread() instanceof VirtualThread) {
            Continuation.pin();
            return true;
        }
        return false;
    }

    /** Undoes {@link #pin}. */
    public static void unpin(boolean pinned) {
        if (pinned) {
            Continuation.unpin();
        }
    }

    /** The JVM is about to be halted. */
    public static void halting() {
        Gate.halting();
    }

    /** The marker stack of a thread. */
    public static Object stack(Thread thread) {
        return thread.cct$stack;
    }

    /** Gives a thread its marker stack. */
    public static void setStack(Thread thread, Object stack) {
        thread.cct$stack = stack;
    }
}
