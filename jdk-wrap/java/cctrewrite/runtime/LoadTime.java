package cctrewrite.runtime;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.Map;
import java.util.Vector;
import sun.misc.Unsafe;

/**
 * The native library that rewrites classes while the program runs (docs/internals/loadtime.md). It
 * also finds the causes of calls that the VM makes itself.
 *
 * <p>Without the library classes stay as they are, and such calls become children of the last
 * stored context.
 *
 * <p>The natives call no Java code and take no Java lock. The library registers them itself.
 */
public final class LoadTime {
    /**
     * The folder of a JDK with marker rules: the rules, and the supertypes of the classes of its
     * library.
     */
    private static final String RULES = "lib/cctrewrite/markers";

    private static boolean loaded;
    private static boolean started;

    /** Whether rewritten code gets markers by the JDK's rules. */
    private static boolean marks;

    /** Why the configured library cannot be used, or null. */
    private static String trouble;

    /** The error in the methods that the user named, or null. */
    private static String misnamed;

    /** Where `cctrewrite run` expects the profile; null if it did not start this JVM. */
    private static String place;

    private LoadTime() {}

    /**
     * Loads the library. Runs at the end of the JVM's own initialisation, before anything is
     * recorded.
     */
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
     * The path of the library in a profiled JDK (docs/reference/images.md), or null. It is relative
     * to the JDK's home, since users can move the JDK.
     */
    private static String ofImage(String home) {
        if (home == null || !new File(home, "lib/cctrewrite/index").isFile()) {
            return null;
        }
        return home + "/lib/" + System.mapLibraryName("cctrewrite_loadtime");
    }

    /**
     * Removes the library from the boot class loader's list of libraries. Its natives are bound
     * already. In a longer list, each search for a native of the program would execute more
     * bytecodes. The library stays loaded, as all libraries of the boot class loader do.
     */
    private static void leaveOut(String path) {
        try {
            String name = new File(path).getCanonicalPath();
            if (leaveOut(ClassLoader.class, null, "systemNativeLibraries", name)) {
                leaveOut(ClassLoader.class, null, "loadedLibraryNames", name);
                return;
            }
            // Since JDK 14 each loader has an object for its libraries, and the boot class loader's
            // object is in another class.
            Class<?> boot = Class.forName("jdk.internal.loader.BootLoader");
            Object libraries = value(CctClasses.field(boot, "NATIVE_LIBS"), null);
            leaveOut(libraries.getClass(), libraries, "libraries", name);
        } catch (Throwable e) {
            // This class library stores its libraries in yet another place.
        }
    }

    /** Removes the newest library, which has this name, from a list, a set or a map. */
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

    /**
     * Prepares the library. Runs before the first class is defined that the library could rewrite.
     * In bypass.
     */
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
     * The jar that the JVM of the user's module starts from: the user's, or that of the image; null
     * for none.
     */
    private static String host() {
        String given = System.getProperty("cctrewrite.udi-host");
        File ofImage = new File(Property.get("java.home"), "lib/cctrewrite/udi.jar");
        return given != null ? given : ofImage.isFile() ? ofImage.getPath() : null;
    }

    /** Whether the user's module gets classes before the library rewrites them. */
    static boolean givesToModule() {
        return loaded && Settings.UDI != null;
    }

    /** The error in the methods or classes that the user named, or null. In bypass. */
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

    /** Prepares the library. Returns why that failed, or null. In bypass. */
    static String ready() {
        if (loaded) {
            start();
        }
        return trouble;
    }

    /** The file in which the process that started this JVM expects the profile; null for none. */
    public static String expected() {
        return place;
    }

    /**
     * The value of a setting that the process that started this JVM has for the runtime; null if it
     * has none for this key.
     */
    public static String said(String key) {
        return loaded ? option(key) : null;
    }

    /**
     * The folder with the rules for markers in rewritten code; null if there are none. In bypass.
     */
    public static File rules() {
        return ready() == null && marks ? new File(Property.get("java.home"), RULES) : null;
    }

    /** Whether classes are rewritten while the program runs. */
    public static boolean loaded() {
        return loaded;
    }

    /**
     * Rewrites a class that the program is about to define.
     *
     * @param loader the loader that defines it; null is the boot class loader
     * @param host the host of an anonymous class, or null
     * @param patches the values that replace constants of an anonymous class, or null
     * @return the rewritten class file; null if the class has been rewritten before, or if it stays
     *     as it is and the notes say so
     */
    static byte[] define(ClassLoader loader, Class<?> host, byte[] b, int off, int len, int how,
            Object[] patches) {
        start();
        return rewrite(loader, host, b, off, len, how, patches);
    }

    /** Makes the JVM call the library with class files after all agents, from now on. In bypass. */
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
     * The class file that agents get instead of {@code file}: the one before the rewriter changed
     * it. In bypass.
     */
    public static byte[] original(ClassLoader loader, String name, byte[] file) {
        if (!loaded) {
            return file;
        }
        byte[] original = original(loader, name, file, Property.get("java.home"));
        return original != null ? original : file;
    }

    /**
     * Whether the library must be the last to see class files. That is so if the boot class loader
     * takes classes from other places than the class library, or if something that is no Java agent
     * may redefine classes. Asked before the program starts. In bypass.
     */
    static boolean isToComeLast() {
        return loaded
                && isToComeLast(Property.get("sun.boot.class.path"), Property.get("java.home"));
    }

    /**
     * Classes of the library that the JVM loaded from another place, too early to rewrite them. In
     * bypass.
     */
    static String[] early() {
        return loaded ? raw() : new String[0];
    }

    /** The native part of {@link #comeLast}. Returns an error, or null. */
    private static native String last();

    /**
     * The native part of {@link #original(ClassLoader, String, byte[])}. Null for the class file as
     * it is.
     */
    private static native byte[] original(ClassLoader loader, String name, byte[] file,
            String home);

    /**
     * The native part of {@link #isToComeLast()}.
     *
     * @param bootPath the boot class path of JDK 8; null from JDK 9 on, where the JVM's arguments
     *     contain it
     */
    private static native boolean isToComeLast(String bootPath, String home);

    private static native String[] raw();

    /**
     * Adds the index of an output on the boot class path.
     *
     * @param jar the jar that contains it; null if it is not in a jar
     * @return an error, or null
     */
    private static native String add(byte[] index, String jar);

    /** Adds the index of an output from a file. Returns an error, or null. */
    private static native String addFile(String index);

    /**
     * Takes the user's selection, before the library rewrites the first class and when the class
     * library is known. It consists of the methods that the user named, globs over the names of
     * recorded and excluded classes, and the criterion by which two classes are the same. All may
     * be null.
     *
     * @return an error, or null
     */
    private static native String select(String startAt, String extents, String include,
            String exclude, String identity);

    /**
     * Starts the user's module.
     *
     * @param java the home of its JDK, or null
     * @param host the jar that its JVM starts from, or null
     * @return an error, or null
     */
    private static native String module(String path, String java, String host, String seconds);

    /** Reads the rules for markers from a folder. Returns an error, or null. */
    private static native String markers(String folder);

    /** How much of the rewritten code got markers; null if none did. */
    public static native String marked();

    /** The code that has no markers, and the rules that match nothing. */
    public static native String[] unmarked();

    /** Notes on the methods that the user named, from the records of all trees. */
    static native String[] selected(long[] records);

    private static native byte[] rewrite(
            ClassLoader loader, Class<?> host, byte[] b, int off, int len, int how,
            Object[] patches);

    /**
     * Tells the library that from now on a frame may belong to a context that is already on the
     * path.
     */
    static native void fold();

    /**
     * Finds the node under {@code root} of the method whose bytecode made the VM call the caller's
     * caller's caller in {@code thread}. {@code thread} is the current thread. Returns 0 if the
     * library cannot find it. Where call sites are distinguished, the {@link Layout#SITE} bits hold
     * that bytecode.
     */
    public static native long replay(Thread thread, long root);

    /**
     * Whether instances of {@code type} have the {@code hashCode} of {@code Object}: 1 if they do,
     * 2 if they have another one, 0 if the JVM cannot say yet.
     */
    public static native long inheritsHashCode(Class<?> type);

    /**
     * The method id of a native of {@code type}; 0 if it has none, or if its class was not
     * rewritten. In a JDK for context values: the number that the native adds to its own value for
     * its callbacks, and 0 if it calls nothing back.
     */
    public static native long nativeMethod(Class<?> type, String name, Class<?> result,
            Class<?>[] parameters);

    /** The id that counts objects of {@code type}; 0 if the JVM cannot say yet. */
    public static native long typeId(Class<?> type);

    /**
     * The value of one of the JVM's flags; null if this JVM does not have it, or describes its
     * flags in a way that the library does not know.
     */
    static native String flag(String name);

    /**
     * The index of all classes that the library has rewritten so far
     * (docs/reference/formats/index.md).
     */
    static native byte[] index();

    /**
     * The method of the class library with this id.
     *
     * @return class, name and descriptor, and one more string if it is a native; null if there is
     *     no such method
     */
    static native String[] method(long mid);

    /** Notes for the profile's reader on the classes that were defined. */
    static native String[] notes();

    /**
     * Registers this JVM with the `cctrewrite run` that started it, if any: that command then
     * reports a JVM that leaves no profile. Returns the file for the profile, or null.
     */
    private static native String place();

    /** The value of a key from the `cctrewrite run` that started this JVM, or null. */
    private static native String option(String key);

    /**
     * Collects the methods of trees.
     *
     * @return a number for {@link #write}, then the ids of the methods whose names that call must
     *     pass
     */
    static native long[] collect(long[] records);

    /**
     * Writes the part of a profile after the notes, once.
     *
     * @param number from {@link #collect}
     * @param file the open file's descriptor
     * @param names class, name and descriptor of each method that the library cannot name; nulls if
     *     they are unknown
     * @param flags the flags of each of these methods
     * @param threads names of the threads, sorted
     * @param rows for each thread: the tree's record, the number of threads that used it, flags
     * @return an error, or null
     */
    static native String write(long number, int file, String[] names, long[] flags,
            String[] threads, long[] rows);
}
