package cctrewrite.runtime;

import java.lang.reflect.Method;

/**
 * Exports packages of the runtime. Since JDK 9 the agent's interface and the classes of users'
 * modules lie in packages of {@code java.base} that are not exported. In bypass.
 */
final class Exports {
    private static final String AGENT_PACKAGE = "cctrewrite.agent";

    private static final String MODULES_PACKAGE = "cctrewrite.udi.runtime";

    private static final String MARKERS_PACKAGE = "cctrewrite.markers";

    private Exports() {}

    /** Exports the package of the classes that inserted code of users' modules calls. */
    static void modules() throws Exception {
        toAll(MODULES_PACKAGE);
    }

    /** Exports the package of the interfaces that marker clients implement. */
    static void markers() throws Exception {
        toAll(MARKERS_PACKAGE);
    }

    /** Exports the agent's package. */
    static void agent() throws Exception {
        toAll(AGENT_PACKAGE);
    }

    /**
     * Exports a package to all modules. Only the JVM's own record changes. The module descriptor,
     * which programs can read, stays as it is.
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
