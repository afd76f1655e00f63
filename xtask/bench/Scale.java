import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.jar.JarFile;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * What grows with something, for {@code cargo xtask bench scale}. Each mode prints one line: times,
 * {@code =}, and what must be the same however the program is run.
 */
public final class Scale {
    private Scale() {}

    public static void main(String[] args) throws Exception {
        // Before anything else.
        long now = System.currentTimeMillis();
        switch (args[0]) {
            case "threads":
                threads(args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
                break;
            case "classes":
                classes(Integer.parseInt(args[1]), Arrays.copyOfRange(args, 2, args.length));
                break;
            case "start":
                start(now, Arrays.copyOfRange(args, 1, args.length));
                break;
            default:
                throw new IllegalArgumentException(args[0]);
        }
    }

    /**
     * {@code units} runs of a kernel are done by {@code count} threads, twice: nanoseconds of the
     * second time.
     */
    private static void threads(String name, int count, int units) throws InterruptedException {
        Kernels.Kernel kernel = Kernels.kernel(name);
        long time = 0;
        AtomicLong checksum = new AtomicLong();
        for (int pass = 0; pass < 2; pass++) {
            AtomicInteger left = new AtomicInteger(units);
            Thread[] threads = new Thread[count];
            for (int i = 0; i < count; i++) {
                threads[i] = new Thread(() -> {
                    while (left.getAndDecrement() > 0) {
                        checksum.addAndGet(kernel.run());
                    }
                });
            }
            long start = System.nanoTime();
            for (Thread thread : threads) {
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            time = System.nanoTime() - start;
        }
        System.out.println(time + " = " + checksum);
    }

    /**
     * Loads all classes of some jars, in the order of their names, without initialising them:
     * nanoseconds after each part of so many, then how many could be loaded.
     */
    private static void classes(int parts, String[] jars) throws IOException {
        List<String> names = new ArrayList<>();
        URL[] urls = new URL[jars.length];
        for (int i = 0; i < jars.length; i++) {
            urls[i] = new File(jars[i]).toURI().toURL();
            try (JarFile jar = new JarFile(jars[i])) {
                jar.stream().map(entry -> entry.getName()).filter(Scale::isClass).forEach(names::add);
            }
        }
        Collections.sort(names);
        StringBuilder times = new StringBuilder();
        int loaded = 0;
        try (URLClassLoader loader = new URLClassLoader(urls)) {
            long start = System.nanoTime();
            for (int i = 0; i < names.size(); i++) {
                String name = names.get(i);
                try {
                    Class.forName(name.substring(0, name.length() - ".class".length()).replace('/', '.'), false, loader);
                    loaded++;
                } catch (ClassNotFoundException | LinkageError e) {
                    // What it extends is in a jar that is not there.
                }
                if ((i + 1) * parts / names.size() != i * parts / names.size()) {
                    times.append(System.nanoTime() - start).append(' ');
                }
            }
        }
        System.out.println(times + "= " + loaded);
    }

    private static boolean isClass(String entry) {
        return entry.endsWith(".class") && !entry.startsWith("META-INF/") && !entry.endsWith("module-info.class");
    }

    /**
     * Compiles files so many times, given the folder for the classes, that of all sources, and the
     * files: the time of day in milliseconds when main was entered, and after each time.
     */
    private static void start(long now, String[] args) {
        int times = Integer.parseInt(args[0]);
        StringBuilder line = new StringBuilder().append(now).append(' ');
        boolean succeeded = true;
        JavaCompiler compiler = times == 0 ? null : ToolProvider.getSystemJavaCompiler();
        for (int i = 0; i < times; i++) {
            StringWriter said = new StringWriter();
            try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
                List<String> options = Arrays.asList("-nowarn", "-proc:none", "-encoding", "UTF-8", "-d", args[1], "-sourcepath", args[2]);
                List<String> files = Arrays.asList(args).subList(3, args.length);
                succeeded &= compiler.getTask(said, manager, null, options, null, manager.getJavaFileObjectsFromStrings(files)).call();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            if (!succeeded) {
                throw new IllegalStateException(said.toString());
            }
            line.append(System.currentTimeMillis()).append(' ');
        }
        System.out.println(line.append("= ").append(succeeded));
    }
}
