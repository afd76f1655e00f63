package cctrewrite.runtime;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;

/**
 * All outputs: those of the class library, in the extension folders and on the class path, in this
 * order. In bypass.
 *
 * <p>In JDK 8 the class library consists of the outputs on the boot class path. From JDK 9 on,
 * {@code -Dcctrewrite.outputs} lists the outputs. Without it, the output is the whole image. The
 * image's index is a file next to it or, if there is none, a resource in it. The output can also be
 * the folders that replace an image.
 */
final class Outputs {
    /**
     * Provenance keys whose values must be equal in all outputs (docs/reference/formats/index.md).
     */
    private static final String[] COMMON = {"format", "scheme", "activation", "blocks",
            "cost-model", "metrics", "intrinsics", "reproducible", "call-sites", "context",
            "allocations", "columns", "natives", "markers", "pcc", "pcc-at", "pcc-only",
            "trace", "udi"};

    /** The index of an image, relative to the JDK's home. */
    private static final String IMAGE_INDEX = "lib/cctrewrite/index";

    /** The index of a class library in folders, which a JVM uses where there is no image. */
    private static final String FOLDERS_INDEX = "modules/java.base/cctrewrite-output/index";

    private static Outputs library;
    private static Outputs known;

    final Output[] all;

    /** Why the outputs do not match, or null. */
    final String misfit;

    private Outputs(Output[] all, String misfit) {
        this.all = all;
        this.misfit = misfit;
    }

    /**
     * The outputs of the class library. This opens no other files. Since JDK 25 the class library
     * defines a class when it opens a multi-release jar. The library's outputs must be known
     * before, to rewrite that class.
     */
    static Outputs library() {
        synchronized (Outputs.class) {
            if (library != null) {
                return library;
            }
        }
        Outputs found = findLibrary();
        synchronized (Outputs.class) {
            if (library == null) {
                library = found;
            }
            return library;
        }
    }

    /**
     * Searches the class paths at the first call. Two threads may do so at once, since no lock is
     * held while library code runs.
     */
    static Outputs known() {
        synchronized (Outputs.class) {
            if (known != null) {
                return known;
            }
        }
        Outputs found = find();
        synchronized (Outputs.class) {
            if (known == null) {
                known = found;
            }
            return known;
        }
    }

    private static Outputs findLibrary() {
        ArrayList<Output> found = new ArrayList<Output>();
        String trouble = null;
        try {
            String path = System.getProperty("cctrewrite.outputs",
                    Property.get("sun.boot.class.path"));
            if (path != null) {
                entries(found, path, true);
            } else {
                String home = Property.get("java.home");
                File folders = new File(home, FOLDERS_INDEX);
                boolean isImage = new File(home, "lib/modules").isFile() || !folders.isFile();
                image(found, isImage ? new File(home, IMAGE_INDEX) : folders);
            }
        } catch (IOException e) {
            trouble = e.getMessage();
        }
        return new Outputs(found.toArray(new Output[0]), trouble);
    }

    private static Outputs find() {
        Outputs library = library();
        if (library.misfit != null) {
            return library;
        }
        ArrayList<Output> found = new ArrayList<Output>();
        for (int i = 0; i < library.all.length; i++) {
            found.add(library.all[i]);
        }
        String trouble = null;
        try {
            extensions(found, Property.get("java.ext.dirs"));
            entries(found, Property.get("java.class.path"), false);
        } catch (IOException e) {
            trouble = e.getMessage();
        }
        Output[] all = found.toArray(new Output[0]);
        return new Outputs(all, trouble != null ? trouble : compare(all));
    }

    private static void image(ArrayList<Output> found, File file) throws IOException {
        Output output;
        try {
            output = Output.image(file);
        } catch (IOException e) {
            throw new IOException(file + ": " + e.getMessage() + "; make the image again");
        }
        if (output != null) {
            found.add(output);
        }
    }

    private static void entries(ArrayList<Output> found, String path, boolean boot)
            throws IOException {
        if (path == null) {
            return;
        }
        int from = 0;
        while (from <= path.length()) {
            int end = path.indexOf(File.pathSeparatorChar, from);
            if (end < 0) {
                end = path.length();
            }
            // An empty entry of the class path is the working directory.
            look(found, new File(end == from ? "." : path.substring(from, end)), boot);
            from = end + 1;
        }
    }

    private static void extensions(ArrayList<Output> found, String path) throws IOException {
        if (path == null) {
            return;
        }
        int from = 0;
        while (from < path.length()) {
            int end = path.indexOf(File.pathSeparatorChar, from);
            if (end < 0) {
                end = path.length();
            }
            String[] names = new File(path.substring(from, end)).list();
            if (names != null) {
                sort(names);
                for (int i = 0; i < names.length; i++) {
                    look(found, new File(path.substring(from, end), names[i]), false);
                }
            }
            from = end + 1;
        }
    }

    /**
     * Sorts without {@code Arrays.sort}: the program must be the first to initialise its classes.
     */
    private static void sort(String[] names) {
        for (int i = 1; i < names.length; i++) {
            String name = names[i];
            int k = i;
            for (; k > 0 && names[k - 1].compareTo(name) > 0; k--) {
                names[k] = names[k - 1];
            }
            names[k] = name;
        }
    }

    private static void look(ArrayList<Output> found, File file, boolean boot) throws IOException {
        try {
            Output output = Output.open(file, boot);
            if (output != null) {
                found.add(output);
            }
        } catch (IOException e) {
            throw new IOException(file + ": " + e.getMessage()
                    + "; rewrite it again with the same cctrewrite as the others");
        }
    }

    private static String compare(Output[] all) {
        for (int i = 1; i < all.length; i++) {
            for (int k = 0; k < COMMON.length; k++) {
                String trouble = differ(all[0], all[i], COMMON[k]);
                if (trouble != null) {
                    return trouble;
                }
            }
        }
        Output first = null;
        for (int i = 0; i < all.length; i++) {
            String jdk = all[i].value("jdk");
            if (jdk != null && !jdk.equals("none")) {
                if (first == null) {
                    first = all[i];
                }
                String trouble = differ(first, all[i], "jdk");
                if (trouble != null) {
                    return trouble;
                }
            }
        }
        return null;
    }

    private static String differ(Output a, Output b, String key) {
        String x = a.value(key);
        String y = b.value(key);
        if (x == null ? y == null : x.equals(y)) {
            return null;
        }
        return a.file + " (" + key + "=" + x + ") and " + b.file + " (" + key + "=" + y
                + ") were not made for each other; run `cctrewrite instrument` on both with the "
                + "same options and for the same JDK";
    }

    /** Adds notes for the profile's reader. */
    void notes(ArrayList<String> to) {
        for (int i = 0; i < all.length; i++) {
            try {
                if (all[i].isLinked()) {
                    to.add("classes that jlink made were not rewritten and are missing from the "
                            + "tree: jdk.internal.module.SystemModules*, and those"
                            + " of java.lang.invoke that are named Holder or Species");
                }
            } catch (IOException e) {
                Settings.say(all[i].file + ": " + e.getMessage());
            }
        }
    }

    /**
     * Whether a class with that provenance hash belongs to one of the outputs; true if there are no
     * outputs to compare with.
     */
    boolean has(long hash) {
        for (int i = 0; i < all.length; i++) {
            if (all[i].hash == hash) {
                return true;
            }
        }
        return all.length == 0;
    }
}
