package cctrewrite.runtime;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.util.HashMap;

/**
 * Checks the classes that are defined while the program runs.
 *
 * <p>The runtime stores each rewritten class, because the profile needs the names of its MIDs at
 * the end. Its output must match the others. A class that was not rewritten must not override a
 * method whose extended form rewritten callers call: the override would silently not run.
 *
 * <p>In bypass. The lock protects only the tables. The code searches class paths and creates
 * exceptions outside of the lock.
 */
public final class Definitions {
    // The ways to define a class.
    public static final int LOADED = 0;
    public static final int ANONYMOUS = 1;
    public static final int PROXY = 2;
    public static final int HIDDEN = 3;

    private static final String OBJECT = "java/lang/Object";

    /** Superclass of generated accessors and of lambda classes; it has no methods. */
    private static final String MAGIC = "sun/reflect/MagicAccessorImpl";
    private static final String INTERNAL_MAGIC = "jdk/internal/reflect/MagicAccessorImpl";

    private static final String GENERATED_ACCESSOR = "sun/reflect/Generated";
    private static final String INTERNAL_GENERATED_ACCESSOR = "jdk/internal/reflect/Generated";

    private static final Object LOCK = new Object();
    private static final HashMap<String, KnownClass> BY_NAME = new HashMap<String, KnownClass>();

    /**
     * Classes that were not rewritten and whose check waits for a superclass; the key is that
     * superclass's name.
     */
    private static final HashMap<String, Overrides> PENDING = new HashMap<String, Overrides>();

    private static KnownClass[] rewritten = new KnownClass[64];
    private static String[] rewrittenNames = new String[64];
    private static int rewrittenCount;

    private static int generated;

    private Definitions() {}

    /** The class file to define, as {@link #bytes}, for a class file in a direct buffer. */
    public static ByteBuffer buffer(ClassLoader loader, ByteBuffer buffer, int off, int len) {
        if (buffer == null || off < 0 || len < 0 || off > buffer.capacity() - len) {
            return buffer;
        }
        byte[] bytes = new byte[len];
        ByteBuffer copy = buffer.duplicate();
        // Call the methods of Buffer: from JDK 9 on ByteBuffer overrides them with another result
        // type, and javac would link to those.
        Buffer place = copy;
        place.clear();
        place.position(off);
        copy.get(bytes, 0, len);
        byte[] now = bytes(loader, null, bytes, 0, len, LOADED, null);
        if (now == bytes) {
            return buffer;
        }
        ByteBuffer direct = ByteBuffer.allocateDirect(now.length);
        direct.put(now, 0, now.length);
        return direct;
    }

    /** The number of bytes in a buffer that {@link #buffer} returned. */
    public static int length(Object buffer) {
        return ((ByteBuffer) buffer).capacity();
    }

    /**
     * The class file to define: {@code b}, or the rewritten one.
     *
     * @throws IncompatibleClassChangeError if the class must not be used; the program's class
     *     loader gets this error
     */
    public static byte[] bytes(ClassLoader loader, Class<?> host, byte[] b, int off, int len,
            int how, Object[] patches) {
        if (b == null || off < 0 || len < 0 || off > b.length - len) {
            return b;
        }
        if (LoadTime.loaded()) {
            byte[] now = LoadTime.define(loader, host, b, off, len, how, patches);
            if (now != null) {
                return now;
            }
        }
        check(b, off, len, how);
        return b;
    }

    private static void check(byte[] b, int off, int len, int how) {
        ClassBytes c = ClassBytes.parse(b, off, len);
        if (c == null) {
            return;
        }
        if (c.rewritten) {
            rewritten(c);
        } else if (how == PROXY || Prefix.of(c.name, GENERATED_ACCESSOR)
                || Prefix.of(c.name, INTERNAL_GENERATED_ACCESSOR)
                || isUnnamable(how) && (OBJECT.equals(c.superName) || MAGIC.equals(c.superName)
                        || INTERNAL_MAGIC.equals(c.superName))) {
            synchronized (LOCK) {
                generated++;
                Arena.put(Arena.GENERATED, generated);
            }
        } else {
            raw(c, how);
        }
    }

    /** Whether other classes cannot refer to a class defined in this way. */
    private static boolean isUnnamable(int how) {
        return how == ANONYMOUS || how == HIDDEN;
    }

    private static void rewritten(ClassBytes c) {
        if (!Outputs.known().has(c.provenanceHash)) {
            throw new IncompatibleClassChangeError("cctrewrite: class " + c.name
                    + " was rewritten with other options, for another JDK or by "
                    + "another version than what is on the class paths; run `cctrewrite "
                    + "instrument` on its jar again, as for the others");
        }
        Overrides waiting;
        synchronized (LOCK) {
            KnownClass sameName = BY_NAME.get(c.name);
            if (sameName != null && sameName.isAlso(c)) {
                // Another loader has defined the same class already.
                return;
            }
            KnownClass known = new KnownClass(c, sameName);
            BY_NAME.put(c.name, known);
            if (rewrittenCount == rewritten.length) {
                KnownClass[] more = new KnownClass[2 * rewrittenCount];
                String[] moreNames = new String[2 * rewrittenCount];
                System.arraycopy(rewritten, 0, more, 0, rewrittenCount);
                System.arraycopy(rewrittenNames, 0, moreNames, 0, rewrittenCount);
                rewritten = more;
                rewrittenNames = moreNames;
            }
            rewrittenNames[rewrittenCount] = c.name;
            rewritten[rewrittenCount++] = known;
            Arena.rewritten(c.name, known.hash, known.methods());
            waiting = PENDING.remove(c.name);
        }
        resume(waiting, c.name);
    }

    private static void raw(ClassBytes c, int how) {
        if (c.superName != null && !OBJECT.equals(c.superName)) {
            check(new Overrides(c), c.superName);
        }
        if (isUnnamable(how)) {
            // Its name is not unique, and no class can name it as its superclass.
            RawClasses.add(c.name);
            return;
        }
        Overrides waiting;
        synchronized (LOCK) {
            BY_NAME.put(c.name, new KnownClass(c, BY_NAME.get(c.name)));
            waiting = PENDING.remove(c.name);
        }
        RawClasses.add(c.name);
        resume(waiting, c.name);
    }

    private static void resume(Overrides waiting, String superName) {
        for (Overrides o = waiting; o != null; ) {
            Overrides next = o.next;
            check(o, superName);
            o = next;
        }
    }

    /**
     * Follows the superclasses by name, as far as they are known. When the next one is defined,
     * {@link #resume} continues.
     */
    private static void check(Overrides overrides, String superName) {
        String at = superName;
        // A chain of names may be circular; the JVM will refuse it.
        for (int depth = 0; at != null && !OBJECT.equals(at) && depth < 1000; depth++) {
            KnownClass known;
            synchronized (LOCK) {
                known = BY_NAME.get(at);
            }
            if (known != null) {
                for (KnownClass k = known; k != null; k = k.sameName) {
                    overrides.against(at, k);
                }
                at = known.superName;
                continue;
            }
            Output[] all = Outputs.known().all;
            String above = null;
            boolean found = false;
            for (int i = 0; i < all.length && !found; i++) {
                Index index = all[i].index();
                int number = index == null ? -1 : index.findClass(at);
                if (number >= 0) {
                    found = true;
                    overrides.against(at, index, number);
                    above = index.superName(number);
                }
            }
            if (!found) {
                synchronized (LOCK) {
                    overrides.next = PENDING.get(at);
                    PENDING.put(at, overrides);
                }
                return;
            }
            at = above;
        }
    }

    /**
     * The number of classes that the JVM or the library generated at run time: lambdas, proxies,
     * accessors.
     */
    static int generated() {
        synchronized (LOCK) {
            return generated;
        }
    }

    /**
     * Rewritten classes in the order of their definition. {@link #rewrittenName} uses the same
     * numbers.
     */
    static KnownClass[] rewritten() {
        synchronized (LOCK) {
            KnownClass[] all = new KnownClass[rewrittenCount];
            System.arraycopy(rewritten, 0, all, 0, rewrittenCount);
            return all;
        }
    }

    static String rewrittenName(int number) {
        synchronized (LOCK) {
            return rewrittenNames[number];
        }
    }
}
