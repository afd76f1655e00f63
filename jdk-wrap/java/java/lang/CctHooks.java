package java.lang;

import cctrewrite.runtime.Definitions;
import cctrewrite.runtime.Finish;
import cctrewrite.runtime.Hidden;
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
 * What single places of the class library call: the life of the JVM, classes that are defined, and
 * reflection (docs/internals/runtime.md).
 *
 * <p>The rules of {@link CctRuntime} hold. Each method puts the thread into bypass by itself: that
 * there is no common method to which the work would be passed saves an object and a class for it,
 * which might be needed before the JVM has booted.
 */
public final class CctHooks {
    /** {@code MethodHandleNatives.Constants.HIDDEN_CLASS}. */
    private static final int HIDDEN_CLASS = 2;

    private CctHooks() {}

    // ---- the life of the JVM --------------------------------------------------------------------

    /**
     * At the end of {@code System.initializeSystemClass} (JDK 8) or {@code System.initPhase2} (9
     * and later, when all modules are in place): from now on everything is recorded. How much work
     * the module system's start is depends on the class data archive, so it is no part of a
     * profile.
     */
    public static void boot() {
        // Library code called here runs with context 0: nothing is recorded yet.
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

    /** On entry of {@code LauncherHelper.checkAndLoadMain}: settings, provenance, agent. */
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
     * On entry of {@code Shutdown.halt} and at the end of {@code Shutdown.shutdown}: the agent's
     * end, once.
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

    // ---- classes defined while the program runs: one method per native, named after it, with its
    // receiver and parameters. They return ---- the class file that is to be defined: the one that
    // they got, or another ---------------------------------------------------

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
     * For {@code ClassLoader.defineClass0} since JDK 15: lookup objects define hidden classes by
     * it, and others.
     */
    public static byte[] define$defineClass0(ClassLoader loader, Class<?> lookup, String name,
            byte[] b, int off, int len,
            ProtectionDomain pd, boolean initialize, int flags, Object classData) {
        return define(loader, null, b, off, len, (flags & HIDDEN_CLASS) != 0
                ? Definitions.HIDDEN : Definitions.LOADED, null);
    }

    /** For {@code defineClass0} of JDK 9's and later {@code Unsafe}. */
    public static byte[] define$defineClass0(
            Unsafe self, String name, byte[] b, int off, int len, ClassLoader loader,
            ProtectionDomain pd) {
        return define(loader, null, b, off, len, Definitions.LOADED, null);
    }

    /** For {@code defineAnonymousClass0} of that {@code Unsafe}, up to JDK 16. */
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
     * Where the class file starts in what is defined now, instead of at {@code off} in what was to
     * be.
     */
    public static int defineOffset(Object now, Object was, int off) {
        return now == was ? off : 0;
    }

    /** How long the class file is in what is defined now, instead of {@code len}. */
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
     * At the end of {@code InstrumentationImpl}'s constructor and of its {@code addTransformer}: an
     * agent may have made the JVM tell it of class files. From now on what it makes of them is
     * rewritten.
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
     * On entry of {@code InstrumentationImpl.transform} (JDK 8): the class file that agents are
     * shown.
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

    /** On entry of {@code InstrumentationImpl.transform} (9 and later). */
    public static byte[] original(
            Object self, Object module, ClassLoader loader, String name, Class<?> redefined,
            ProtectionDomain pd, byte[] file, boolean isRetransformer) {
        return original(self, loader, name, redefined, pd, file, isRetransformer);
    }

    // ---- modules --------------------------------------------------------------------------------

    /**
     * For {@code Module.defineModule0} since JDK 12: the packages of a module that the JVM is told
     * of. To those of {@code java.base}, which is defined before the JVM has booted, the runtime's
     * are added, in which it would find no class otherwise. The module's descriptor, which programs
     * see, does not name them.
     */
    public static Object[] packages(Object[] all) {
        return isBase(all) ? withOurs(all, new Object[all.length + 5]) : all;
    }

    /** For {@code Module.defineModule0} before. */
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

    // Before boot, too: what reflection caches then is what the program sees later. Library code
    // called that early runs with context 0.

    // ---- what is not to be collected ------------------------------------------------------------

    /**
     * What is kept: pairs of an object and the next pair. A class for them might be needed before
     * the JVM has booted.
     */
    private static Object[] kept;

    /**
     * For method types and names that the linkage of call sites finds by weak references, and would
     * make again after a collection ({@code --reproducible}).
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
            return Hidden.methods(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Hidden.methods(all);
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
            return Hidden.constructors(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Hidden.constructors(all);
        } finally {
            thread.cct$context = context;
        }
    }

    /** As {@link #filter(Method[])}, and in an order of their own ({@code --reproducible}). */
    public static Method[] sorted(Method[] all) {
        if (!CctRuntime.booted()) {
            return Members.sorted(Hidden.methods(all));
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Members.sorted(Hidden.methods(all));
        } finally {
            thread.cct$context = context;
        }
    }

    /** As {@link #filter(Constructor[])}, and in an order of their own ({@code --reproducible}). */
    public static Constructor<?>[] sorted(Constructor<?>[] all) {
        if (!CctRuntime.booted()) {
            return Members.sorted(Hidden.constructors(all));
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Members.sorted(Hidden.constructors(all));
        } finally {
            thread.cct$context = context;
        }
    }

    /**
     * The result of {@code Class.getDeclaredFields0} without the fields that the rewriter added.
     */
    public static Field[] filter(Field[] all) {
        if (!CctRuntime.booted()) {
            return Hidden.fields(all);
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            return Hidden.fields(all);
        } finally {
            thread.cct$context = context;
        }
    }
}
