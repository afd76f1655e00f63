import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.FileReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads and links (and so verifies) every class of jars, and writes a line for each: jar, class,
 * and {@code linked} or what was thrown. No class is initialised. The jars must be on the class
 * path, so that classes find those above them; a class that an earlier jar has, too, is defined by
 * a loader of its jar's own, as all classes of that jar are for it.
 *
 * <p>Arguments: a file that names the jars, one on each line, and the file to write.
 */
public class LinkJars {
    private static final String VERSIONS = "META-INF/versions/";

    private static final String CLASS = ".class";

    /** Whether this JVM looks into the versions of a multi-release jar, and up to which one. */
    private static final int RELEASE = release();

    public static void main(String[] args) throws IOException {
        Set<String> taken = new HashSet<String>();
        PrintWriter out = new PrintWriter(args[1], "UTF-8");
        BufferedReader list = new BufferedReader(new FileReader(args[0]));
        for (String path = list.readLine(); path != null; path = list.readLine()) {
            JarFile jar = new JarFile(path);
            String name = path.substring(path.lastIndexOf('/') + 1);
            Map<String, JarEntry> classes = classes(jar);
            ClassLoader own = new Own(jar, classes);
            for (String className : classes.keySet()) {
                boolean isFirst = taken.add(className);
                ClassLoader loader = isFirst ? ClassLoader.getSystemClassLoader() : own;
                out.println(name + "\t" + className + "\t" + link(className, loader));
            }
        }
        list.close();
        out.close();
        if (out.checkError()) {
            throw new IOException(args[1] + " cannot be written");
        }
    }

    /** What becomes of a class. */
    private static String link(String name, ClassLoader loader) {
        try {
            Class<?> c = Class.forName(name, false, loader);
            // HotSpot links a class before it lists its members. Listing may fail, too, since the
            // types of members are loaded; where one of the lists is to be had, the class is
            // linked.
            Throwable first;
            try {
                c.getDeclaredConstructors();
                return "linked";
            } catch (LinkageError e) {
                first = e;
            }
            try {
                c.getDeclaredFields();
                return "linked";
            } catch (LinkageError e) {
                // The next one.
            }
            try {
                c.getDeclaredMethods();
                return "linked";
            } catch (LinkageError e) {
                return said(first);
            }
        } catch (Throwable e) {
            return said(e);
        }
    }

    private static String said(Throwable e) {
        String text = e.toString();
        int end = text.indexOf('\n');
        return (end < 0 ? text : text.substring(0, end)).replace('\t', ' ').replace('\r', ' ');
    }

    /** The classes of a jar by name, each with the entry that this JVM takes. */
    private static Map<String, JarEntry> classes(JarFile jar) throws IOException {
        boolean versioned =
                jar.getManifest() != null && "true".equalsIgnoreCase(jar.getManifest().getMainAttributes().getValue("Multi-Release"));
        Map<String, JarEntry> found = new TreeMap<String, JarEntry>();
        Map<String, Integer> versions = new TreeMap<String, Integer>();
        for (Iterator<JarEntry> i = Collections.list(jar.entries()).iterator(); i.hasNext();) {
            JarEntry entry = i.next();
            String file = entry.getName();
            int version = 0;
            if (file.startsWith(VERSIONS)) {
                int end = file.indexOf('/', VERSIONS.length());
                try {
                    version = Integer.parseInt(file.substring(VERSIONS.length(), Math.max(end, VERSIONS.length())));
                } catch (NumberFormatException e) {
                    continue;
                }
                if (!versioned || version > RELEASE) {
                    continue;
                }
                file = file.substring(end + 1);
            }
            if (!file.endsWith(CLASS) || file.startsWith("META-INF/") || file.endsWith("-info.class")) {
                continue;
            }
            String name = file.substring(0, file.length() - CLASS.length()).replace('/', '.');
            Integer known = versions.get(name);
            if (known == null || known < version) {
                versions.put(name, version);
                found.put(name, entry);
            }
        }
        return found;
    }

    /** 0 where there are no multi-release jars. */
    private static int release() {
        String version = System.getProperty("java.specification.version");
        return version.startsWith("1.") ? 0 : Integer.parseInt(version);
    }

    /** Defines the classes of a jar itself, and leaves others to the class path. */
    private static class Own extends ClassLoader {
        private final JarFile jar;

        private final Map<String, JarEntry> classes;

        Own(JarFile jar, Map<String, JarEntry> classes) {
            this.jar = jar;
            this.classes = classes;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                JarEntry entry = classes.get(name);
                if (entry == null) {
                    return super.loadClass(name, resolve);
                }
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                try {
                    byte[] bytes = bytes(jar.getInputStream(entry));
                    return defineClass(name, bytes, 0, bytes.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
        }

        private static byte[] bytes(InputStream in) throws IOException {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            byte[] part = new byte[1 << 16];
            for (int n = in.read(part); n >= 0; n = in.read(part)) {
                out.write(part, 0, n);
            }
            in.close();
            return out.toByteArray();
        }
    }
}
