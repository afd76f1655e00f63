package cctrewrite.runtime;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.Map;
import java.util.Vector;
import sun.misc.Unsafe;

/**
 * The native library that rewrites classes while the program runs, and finds the cause of what the
 * VM calls by itself (docs/internals/loadtime.md). Without it classes stay as they are, and such
 * calls hang under the context that was stored last.
 *
 * <p>The natives call no Java code and take no Java lock. They are registered by the library
 * itself.
 */
public final class LoadTime {
    /**
     * In a JDK that brings along rules for markers: the rules, and what is above which class of its
     * library.
     */
    private static final String RULES = "lib/cctrewrite/markers";

    private static boolean loaded;
    private static boolean started;

    /** Whether what is rewritten gets markers by such rules. */
    private static boolean marks;

    /** Why the library that was asked for cannot be used, or null. */
    private static String trouble;

    /** What is wrong with the methods that the user named, or null. */
    private static String misnamed;

    /** Where `cctrewrite run` expects the profile; null when it did not start this JVM. */
    private static String place;

    private LoadTime() {}

    /** At the end of the JVM's own initialisation, before anything is recorded. */
    public static void load(boolean recording) {
        String path = System.getProperty("cctrewrite.loadtime");
        if (path == null) {
            path = ofImage(Property.get("java.home"));
        }
        if (path == null || path.isEmpty()) {
            return;
        }
        try {
            System.load(path);
            loaded = true;
            if (recording) {
                place = place();
                if (Tracing.on()) {
                    Tracing.open(place);
                } else if (Pcc.on()) {
                    Pcc.open(place);
                } else {
                    Arena.open(System.getProperty("cctrewrite.arena"), place == null
                            ? null : place + ".arena");
                }
            }
        } catch (Throwable e) {
            trouble = e.toString();
            return;
        }
        leaveOut(path);
    }

    /**
     * The library that a profiled JDK brings along (docs/reference/images.md), or null. Found from
     * its home, since the JDK can be moved.
     */
    private static String ofImage(String home) {
        if (home == null || !new File(home, "lib/cctrewrite/index").isFile()) {
            return null;
        }
        return home + "/lib/" + System.mapLibraryName("cctrewrite_loadtime");
    }

    /**
     * Takes the library out of the boot class loader's list. Its natives are bound; the program's
     * own would be looked for in one library more, and so executes bytecodes more, each time. It
     * stays loaded, as all libraries of the boot class loader do.
     */
    private static void leaveOut(String path) {
        try {
            String name = new File(path).getCanonicalPath();
            if (leaveOut(ClassLoader.class, null, "systemNativeLibraries", name)) {
                leaveOut(ClassLoader.class, null, "loadedLibraryNames", name);
                return;
            }
            // Since JDK 14 each loader has an object for its libraries, and the boot class loader's
            // is elsewhere.
            Class<?> boot = Class.forName("jdk.internal.loader.BootLoader");
            Object libraries = value(CctClasses.field(boot, "NATIVE_LIBS"), null);
            leaveOut(libraries.getClass(), libraries, "libraries", name);
        } catch (Throwable e) {
            // Yet another class library keeps its libraries elsewhere.
        }
    }

    /** Takes the newest library, whose name it is, out of a list, a set or a map. */
    private static boolean leaveOut(Class<?> type, Object of, String field, String name) {
        Field place = CctClasses.field(type, field);
        if (place == null) {
            return false;
        }
        Object libraries = value(place, of);
        if (libraries instanceof Vector) {
            ((Vector<?>) libraries).removeElementAt(((Vector<?>) libraries).size() - 1);
        } else if (libraries instanceof Map) {
            ((Map<?, ?>) libraries).remove(name);
        } else {
            ((Collection<?>) libraries).remove(name);
        }
        return true;
    }

    private static Object value(Field field, Object of) {
        Unsafe u = CctMemory.U;
        if (of == null) {
            return u.getObject(u.staticFieldBase(field), u.staticFieldOffset(field));
        }
        return u.getObject(of, u.objectFieldOffset(field));
    }

    /** Before the first class is defined that the library could rewrite. In bypass. */
    private static synchronized void start() {
        if (started) {
            return;
        }
        started = true;
        Output[] outputs = Outputs.library().all;
        for (int i = 0; i < outputs.length && trouble == null; i++) {
            try {
                File index = outputs[i].indexFile();
                String wrong = index != null
                        ? addFile(index.getPath()) : add(outputs[i].whole(), outputs[i].jar());
                trouble = wrong == null ? null : outputs[i].file + ": " + wrong;
            } catch (IOException e) {
                trouble = outputs[i].file + ": " + e.getMessage();
            }
        }
        File rules = new File(Property.get("java.home"), RULES);
        if (trouble == null && rules.isDirectory()) {
            trouble = markers(rules.getPath());
            marks = trouble == null;
        }
        if (trouble == null && Settings.UDI != null) {
            trouble = module(Settings.UDI, Settings.UDI_JAVA, host(), Settings.UDI_TIMEOUT);
        }
        if (trouble == null) {
            misnamed = select(Settings.START_AT, Settings.EXTENT, Settings.INCLUDE,
                    Settings.EXCLUDE, Settings.IDENTITY);
        }
    }

    /**
     * The jar from which the JVM of the user's module starts: given, or the image's; null for none.
     */
    private static String host() {
        String given = System.getProperty("cctrewrite.udi-host");
        File ofImage = new File(Property.get("java.home"), "lib/cctrewrite/udi.jar");
        return given != null ? given : ofImage.isFile() ? ofImage.getPath() : null;
    }

    /** Whether classes go to the user's module before they are rewritten. */
    static boolean givesToModule() {
        return loaded && Settings.UDI != null;
    }

    /** What is wrong with the methods or classes that the user named, or null. In bypass. */
    static String misnamed() {
        if (loaded && ready() == null) {
            return misnamed;
        }
        if (Settings.IDENTITY.equals("loader")) {
            return "-Dcctrewrite.identity=loader needs the library that rewrites classes at load "
                    + "time (-Dcctrewrite.loadtime)";
        }
        return Settings.EXTENT == null && Settings.START_AT == null
                ? null : "-Dcctrewrite.extent and -Dcctrewrite.start-at need the library that "
                + "rewrites classes at load time (-Dcctrewrite.loadtime)";
    }

    /** Gets the library ready; says why that failed, or null. In bypass. */
    static String ready() {
        if (loaded) {
            start();
        }
        return trouble;
    }

    /** The file in which the profile is expected by who started this JVM; null for none. */
    public static String expected() {
        return place;
    }

    /**
     * What whoever started this JVM wants of the runtime, under this key; null if nobody has said.
     */
    public static String said(String key) {
        return loaded ? option(key) : null;
    }

    /**
     * The folder with the rules by which what is rewritten gets markers; null if there are none. In
     * bypass.
     */
    public static File rules() {
        return ready() == null && marks ? new File(Property.get("java.home"), RULES) : null;
    }

    /** Whether classes are rewritten while the program runs. */
    public static boolean loaded() {
        return loaded;
    }

    /**
     * Rewrites a class that is about to be defined.
     *
     * @param loader the loader that defines it; null is the boot class loader
     * @param host the host of an anonymous class, or null
     * @param patches what the definer puts instead of constants, or null
     * @return the rewritten class file; null when the class has been rewritten before or stays as
     *     it is, which the notes then say
     */
    static byte[] define(ClassLoader loader, Class<?> host, byte[] b, int off, int len, int how,
            Object[] patches) {
        start();
        return rewrite(loader, host, b, off, len, how, patches);
    }

    /** Has the JVM tell of class files behind all agents, from now on. In bypass. */
    public static void comeLast() {
        if (ready() != null || !loaded) {
            return;
        }
        String wrong = last();
        if (wrong != null) {
            RawClasses.note("what agents change is not rewritten: " + wrong);
        }
    }

    /**
     * The class file that agents are shown instead of {@code file}: that from which the class was
     * made. In bypass.
     */
    public static byte[] original(ClassLoader loader, String name, byte[] file) {
        if (!loaded) {
            return file;
        }
        byte[] original = original(loader, name, file, Property.get("java.home"));
        return original != null ? original : file;
    }

    /**
     * Whether the boot class loader takes classes from elsewhere than the class library, or
     * something may redefine classes that is no Java agent; before the program. In bypass.
     */
    static boolean isToComeLast() {
        return loaded
                && isToComeLast(Property.get("sun.boot.class.path"), Property.get("java.home"));
    }

    /**
     * Classes of the library that the JVM has taken from elsewhere, too early to be rewritten. In
     * bypass.
     */
    static String[] early() {
        return loaded ? raw() : new String[0];
    }

    /** See {@link #comeLast}; says what is wrong, or null. */
    private static native String last();

    /** See {@link #original(ClassLoader, String, byte[])}; null for the class file as it is. */
    private static native byte[] original(ClassLoader loader, String name, byte[] file,
            String home);

    /**
     * See {@link #isToComeLast()}.
     *
     * @param bootPath the boot class path of JDK 8; null from 9 on, where the JVM's arguments say
     *     it
     */
    private static native boolean isToComeLast(String bootPath, String home);

    private static native String[] raw();

    /**
     * Adds the index of an output on the boot class path.
     *
     * @param jar the jar in which it is; null if it is not in a jar
     * @return what is wrong with it, or null
     */
    private static native String add(byte[] index, String jar);

    /** Likewise, from a file. */
    private static native String addFile(String index);

    /**
     * Takes the methods that the user named, globs over the names of classes that are recorded or
     * not, and what makes two classes the same; before the first class is rewritten, when the class
     * library is known. All may be null.
     *
     * @return what is wrong with them, or null
     */
    private static native String select(String startAt, String extents, String include,
            String exclude, String identity);

    /**
     * Starts the user's module.
     *
     * @param java the home of its JDK, or null
     * @param host the jar from which its JVM starts, or null
     * @return what is wrong with it, or null
     */
    private static native String module(String path, String java, String host, String seconds);

    /** Takes the rules for markers in a folder; says what is wrong with them, or null. */
    private static native String markers(String folder);

    /** How much of what was rewritten got markers; null if nothing did. */
    public static native String marked();

    /** What is not marked of it, and which rules match nothing. */
    public static native String[] unmarked();

    /** What became of these methods, given the records of all trees. */
    static native String[] selected(long[] records);

    private static native byte[] rewrite(
            ClassLoader loader, Class<?> host, byte[] b, int off, int len, int how,
            Object[] patches);

    /** From now on a frame may be of a context that is on the path already. */
    static native void fold();

    /**
     * The node under {@code root} of the method whose bytecode made the VM call the caller's
     * caller's caller in {@code thread}, the current one; 0 when it cannot be told. Where call
     * sites are distinguished with that bytecode in the {@link Layout#SITE} bits.
     */
    public static native long replay(Thread thread, long root);

    /**
     * 1 when instances of {@code type} have the {@code hashCode} of {@code Object}, 2 when they
     * have another one, 0 when the JVM does not say yet.
     */
    public static native long inheritsHashCode(Class<?> type);

    /**
     * The method id of a native of {@code type}; 0 when it has none, or its class was not
     * rewritten. Where contexts are values what it adds to its own for what it calls back, and 0 if
     * it never does.
     */
    public static native long nativeMethod(Class<?> type, String name, Class<?> result,
            Class<?>[] parameters);

    /** The id under which objects of {@code type} are counted; 0 when the JVM does not say yet. */
    public static native long typeId(Class<?> type);

    /**
     * The value of one of the JVM's flags; null when this JVM does not have it, or does not
     * describe its flags in a way that the library knows.
     */
    static native String flag(String name);

    /**
     * The index of all classes that have been rewritten so far (docs/reference/formats/index.md).
     */
    static native byte[] index();

    /**
     * The method of the class library with this id.
     *
     * @return class, name and descriptor, and one string more if it is a native; null when there is
     *     none
     */
    static native String[] method(long mid);

    /** What the profile's reader must know of classes that were defined. */
    static native String[] notes();

    /**
     * Lets `cctrewrite run`, if it started this JVM, know of it: a JVM that leaves no profile is
     * missed. Returns the file for the profile, or null.
     */
    private static native String place();

    /** The value that `cctrewrite run`, if it started this JVM, has for a key, or null. */
    private static native String option(String key);

    /**
     * Looks through trees.
     *
     * @return a number for {@link #write}, then the ids of methods whose names are to be given
     *     there
     */
    static native long[] collect(long[] records);

    /**
     * Writes what comes behind the notes of a profile, once.
     *
     * @param number from {@link #collect}
     * @param file the open file's descriptor
     * @param names class, name and descriptor of each method that has none; nulls if it cannot be
     *     told
     * @param flags of each of these
     * @param threads names of the threads, sorted
     * @param rows of each thread: the tree's record, the number of threads that it served, flags
     * @return what went wrong, or null
     */
    static native String write(long number, int file, String[] names, long[] flags,
            String[] threads, long[] rows);
}
