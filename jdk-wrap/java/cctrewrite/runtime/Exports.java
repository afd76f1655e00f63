package cctrewrite.runtime;

import java.lang.reflect.Method;

/** Since JDK 9 the agent's interface lies in a package of {@code java.base} that nobody may see. In bypass. */
final class Exports {
    private static final String AGENT_PACKAGE = "cctrewrite.agent";

    private Exports() {}

    /** Opens that package to the classes of all modules. The JVM is told; the module's own description, which programs can look at, stays as it is. */
    static void agent() throws Exception {
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
        export.invoke(null, getModule.invoke(Object.class), AGENT_PACKAGE);
    }
}
