package java.lang;

import cctrewrite.runtime.AddedMembers;
import cctrewrite.runtime.Definitions;
import cctrewrite.runtime.Finish;
import cctrewrite.runtime.Launch;
import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Members;
import cctrewrite.runtime.Pcc;
import cctrewrite.runtime.Regions;
import cctrewrite.runtime.Settings;
import cctrewrite.runtime.Tracing;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.security.ProtectionDomain;
import sun.misc.Unsafe;

/**
 * Methods that single locations of the class library call: for the life of the JVM, class
 * definitions, and reflection (docs/internals/runtime.md).
 *
 * <p>The rules of {@link CctRuntime} hold. Each method puts the thread into bypass itself. A common
 * method would need an object for the work to do, and a class for that object. These might be
 * needed before the JVM has booted.
 */
public final class CctHooks {
    /** {@code MethodHandleNatives.Constants.HIDDEN_CLASS}. */
    private static final int HIDDEN_CLASS = 2;

    private CctHooks() {}

    // ---- the life of the JVM --------------------------------------------------------------------

    /**
     * Starts the recording. Called at the end of {@code System.initializeSystemClass} (JDK 8) or
     * {@code System.initPhase2} (9 and later, when all modules are defined). The start of the
     * module system takes more or less work, depending on the class data archive, so it is no part
     * of a profile.
     */
    public static void boot() {
        // Library code called from here runs with context 0: nothing is recorded yet.
        CctPin.prepare();
        boolean on = !"off".equals(System.getProperty("cctrewrite.record"));
        LoadTime.load(on);
        if (CctMemory.SENTINEL != 0L && (!on || !Tracing.on() || CctTrace.begin())) {
            Settings.early();
            if (on && !Tracing.on() && !Pcc.on()) {
                Regions.begin();
            }
            if (Pcc.on()) {
                CctPcc.start(Settings.EXTENT != null, Settings.START_AT != null);
            }
            CctRuntime.start(on, Settings.EXTENT != null
                    && !Tracing.on(), Settings.START_AT != null);
        }
    }

    /**
     * Called on entry of {@code LauncherHelper.checkAndLoadMain}: applies settings, checks
     * provenance, and loads the agent.
     */
    public static void launch() {
        if (!CctRuntime.booted()) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Launch.launch(CctRuntime.recording());
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Called on entry of {@code Shutdown.halt} and at the end of {@code Shutdown.shutdown}: ends
     * the recording, once.
     */
    public static void finish() {
        if (!CctRuntime.recording()) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Finish.finish();
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- class definitions ----------------------------------------------------------------------
    //
    // One method for each native, named after it, with its receiver and parameters. Each method
    // returns the class file to define: the one that it got, or another one.

    /** For {@code ClassLoader.defineClass0}. */
    public static byte[] define$defineClass0(ClassLoader self, String name, byte[] b, int off,
            int len, ProtectionDomain pd) {
        return define(self, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code ClassLoader.defineClass1}. */
    public static byte[] define$defineClass1(
            ClassLoader self, String name, byte[] b, int off, int len, ProtectionDomain pd,
            String source) {
        return define(self, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code ClassLoader.defineClass2}. */
    public static ByteBuffer define$defineClass2(
            ClassLoader self, String name, ByteBuffer b, int off, int len, ProtectionDomain pd,
            String source) {
        if (!CctRuntime.booted()) {
            return b;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Definitions.buffer(self, b, off, len);
        } finally {
            thread.cct$context = context;
        }
    }

    /** For {@code sun.misc.Unsafe.defineClass}. */
    public static byte[] define$defineClass(
            Unsafe self, String name, byte[] b, int off, int len, ClassLoader loader,
            ProtectionDomain pd) {
        return define(loader, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code sun.misc.Unsafe.defineAnonymousClass}. */
    public static byte[] define$defineAnonymousClass(Unsafe self, Class<?> host, byte[] data,
            Object[] patches) {
        return define(null, host, data, 0, data == null
                ? 0 : data.length, Definitions.ANONYMOUS, patches);
    }

    /** For {@code java.lang.reflect.Proxy.defineClass0}. */
    public static byte[] define$defineClass0(ClassLoader loader, String name, byte[] b, int off,
            int len) {
        return define(loader, null, b, off, len, Definitions.PROXY, null);
    }

    /**
     * For {@code ClassLoader.defineClass0} since JDK 15: lookup objects use it to define hidden and
     * other classes.
     */
    public static byte[] define$defineClass0(ClassLoader loader, Class<?> lookup, String name,
            byte[] b, int off, int len,
            ProtectionDomain pd, boolean initialize, int flags, Object classData) {
        return define(loader, null, b, off, len, (flags & HIDDEN_CLASS) != 0
                ? Definitions.HIDDEN : Definitions.LOADED, null);
    }

    /** For {@code Unsafe.defineClass0} of JDK 9 and later. */
    public static byte[] define$defineClass0(
            Unsafe self, String name, byte[] b, int off, int len, ClassLoader loader,
            ProtectionDomain pd) {
        return define(loader, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code Unsafe.defineAnonymousClass0} of JDK 9 to 16. */
    public static byte[] define$defineAnonymousClass0(Unsafe self, Class<?> host, byte[] data,
            Object[] patches) {
        return define(null, host, data, 0, data == null
                ? 0 : data.length, Definitions.ANONYMOUS, patches);
    }

    private static byte[] define(ClassLoader loader, Class<?> host, byte[] b, int off, int len,
            int how, Object[] patches) {
        if (!CctRuntime.booted()) {
            return b;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Definitions.bytes(loader, host, b, off, len, how, patches);
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * The offset of the class file in {@code now}, which replaces {@code off}. {@code was} is the
     * class file that the caller passed.
     */
    public static int defineOffset(Object now, Object was, int off) {
        return now == was ? off : 0;
    }

    /** The length of the class file in {@code now}, which replaces {@code len}. */
    public static int defineLength(Object now, Object was, int len) {
        if (now == was) {
            return len;
        }
        if (now instanceof byte[]) {
            return ((byte[]) now).length;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Definitions.length(now);
        } finally {
            thread.cct$context = context;
        }
    }

    // ---- agents ---------------------------------------------------------------------------------

    /**
     * Called at the end of {@code InstrumentationImpl}'s constructor and of its
     * {@code addTransformer}. An agent may have registered for class files with the JVM. From now
     * on the library rewrites the agent's results.
     */
    public static void agent() {
        if (!CctRuntime.booted()) {
            return;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            LoadTime.comeLast();
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * Called on entry of {@code InstrumentationImpl.transform} (JDK 8): returns the class file for
     * the agents.
     */
    public static byte[] original(
            Object self, ClassLoader loader, String name, Class<?> redefined, ProtectionDomain pd,
            byte[] file, boolean isRetransformer) {
        if (!CctRuntime.booted() || name == null || file == null) {
            return file;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return LoadTime.original(loader, name, file);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Called on entry of {@code InstrumentationImpl.transform} (JDK 9 and later). */
    public static byte[] original(
            Object self, Object module, ClassLoader loader, String name, Class<?> redefined,
            ProtectionDomain pd, byte[] file, boolean isRetransformer) {
        return original(self, loader, name, redefined, pd, file, isRetransformer);
    }

    // ---- modules --------------------------------------------------------------------------------

    /**
     * For {@code Module.defineModule0} since JDK 12: the packages that the JVM gets for a module.
     * For {@code java.base}, which is defined before the JVM has booted, this adds the runtime's
     * packages. Without them the JVM would not find the runtime's classes. The module descriptor,
     * which programs see, does not contain them.
     */
    public static Object[] packages(Object[] all) {
        return isBase(all) ? withOurs(all, new Object[all.length + 5]) : all;
    }

    /** For {@code Module.defineModule0} of JDK 9 to 11. */
    public static String[] packages(String[] all) {
        return isBase(all) ? (String[]) withOurs(all, new String[all.length + 5]) : all;
    }

    private static boolean isBase(Object[] packages) {
        if (CctRuntime.booted() || packages == null) {
            return false;
        }
        for (int i = 0; i < packages.length; i++) {
            if ("java.lang".equals(packages[i])) {
                return true;
            }
        }
        return false;
    }

    private static Object[] withOurs(Object[] all, Object[] more) {
        System.arraycopy(all, 0, more, 0, all.length);
        more[all.length] = "cctrewrite.runtime";
        more[all.length + 1] = "cctrewrite.agent";
        more[all.length + 2] = "cctrewrite.udi.runtime";
        more[all.length + 3] = "cctrewrite.markers";
        more[all.length + 4] = "cctrewrite.typestate";
        return more;
    }

    // These methods also filter before boot: the program later sees what reflection caches then.
    // Library code called that early runs with context 0.

    // ---- kept objects ---------------------------------------------------------------------------

    /**
     * The list of kept objects: pairs of an object and the next pair. A class for the pairs might
     * be needed before the JVM has booted.
     */
    private static Object[] kept;

    /**
     * Keeps an object alive: method types and names that call-site linkage finds by weak
     * references. Without this, the JVM would create them again after a collection
     * ({@code --reproducible}).
     */
    public static synchronized void keep(Object object) {
        kept = new Object[] {object, kept};
    }

    // ---- reflection -----------------------------------------------------------------------------

    /**
     * The result of {@code Class.getDeclaredMethods0} without the methods that the rewriter added.
     */
    public static Method[] filter(Method[] all) {
        if (!CctRuntime.booted()) {
            return AddedMembers.methods(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return AddedMembers.methods(all);
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * The result of {@code Class.getDeclaredConstructors0} without the constructors that the
     * rewriter added.
     */
    public static Constructor<?>[] filter(Constructor<?>[] all) {
        if (!CctRuntime.booted()) {
            return AddedMembers.constructors(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return AddedMembers.constructors(all);
        } finally {
            thread.cct$context = context;
        }
    }

    /** Filters as {@link #filter(Method[])}, and sorts ({@code --reproducible}). */
    public static Method[] sorted(Method[] all) {
        if (!CctRuntime.booted()) {
            return Members.sorted(AddedMembers.methods(all));
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Members.sorted(AddedMembers.methods(all));
        } finally {
            thread.cct$context = context;
        }
    }

    /** Filters as {@link #filter(Constructor[])}, and sorts ({@code --reproducible}). */
    public static Constructor<?>[] sorted(Constructor<?>[] all) {
        if (!CctRuntime.booted()) {
            return Members.sorted(AddedMembers.constructors(all));
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Members.sorted(AddedMembers.constructors(all));
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * The result of {@code Class.getDeclaredFields0} without the fields that the rewriter added.
     */
    public static Field[] filter(Field[] all) {
        if (!CctRuntime.booted()) {
            return AddedMembers.fields(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return AddedMembers.fields(all);
        } finally {
            thread.cct$context = context;
        }
    }
}
