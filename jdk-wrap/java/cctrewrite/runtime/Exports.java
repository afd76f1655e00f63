package cctrewrite.runtime;

import java.lang.reflect.Method;

/**
 * Since JDK 9 the agent's interface, and the classes of users' modules, lie in packages of
 * {@code java.base} that nobody may see. In bypass.
 */
final class Exports {
    private static final String AGENT_PACKAGE = "cctrewrite.agent";

    private static final String MODULES_PACKAGE = "cctrewrite.udi.runtime";

    private static final String MARKERS_PACKAGE = "cctrewrite.markers";

    private Exports() {}

    /** Opens the package of the classes that code calls which users' modules have inserted. */
    static void modules() throws Exception {
        toAll(MODULES_PACKAGE);
    }

    /** Opens the package of what clients of markers implement. */
    static void markers() throws Exception {
        toAll(MARKERS_PACKAGE);
    }

    /** Opens the agent's. */
    static void agent() throws Exception {
        toAll(AGENT_PACKAGE);
    }

    /**
     * Opens a package to the classes of all modules. The JVM is told; the module's own description,
     * which programs can look at, stays as it is.
     */
    private static void toAll(String name) throws Exception {
        Class<?> module;
        try {
            module = Class.forName("java.lang.Module");
        } catch (ClassNotFoundException e) {
            // JDK 8.
            return;
        }
        Method getModule = Class.class.getDeclaredMethod("getModule");
        Method export = module.getDeclaredMethod("addExportsToAll0", module, String.class);
        export.setAccessible(true);
        export.invoke(null, getModule.invoke(Object.class), name);
    }
}
