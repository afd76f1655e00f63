package cctrewrite.udi;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.Manifest;

/**
 * Runs a module for the command: reads requests from standard input and writes answers to standard
 * output (docs/research/udi.md, <i>The protocol</i>).
 */
public final class Host {
    private static final String MAGIC = "CCTUDI01";
    private static final String ATTRIBUTE = "Cctrewrite-Module";
    private static final String RUNTIME = "cctrewrite/udi/runtime/";

    private static final int KEEP = 0;
    private static final int REPLACE = 1;
    private static final int ABORT = 2;
    private static final int FAILED = 3;

    /** Maximum length of a field. */
    private static final int LARGEST = 256 << 20;

    private Host() {}

    /** Runs the module of a jar. */
    public static void main(String[] arguments) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
        // The module's own output must not get into its answers.
        System.setOut(System.err);
        File file = new File(arguments[0]);
        UserModule module;
        try (JarFile jar = new JarFile(file)) {
            module = load(file, jar.getManifest());
            greet(in, out, jar);
        } catch (Stop e) {
            System.err.println(file + ": " + e.getMessage());
            System.exit(1);
            return;
        }
        serve(module, in, out);
        // Threads that the module has started must not delay the command.
        System.exit(0);
    }

    /** The reason why there is no module. */
    private static final class Stop extends Exception {
        private static final long serialVersionUID = 1L;

        Stop(String why) {
            super(why);
        }
    }

    private static UserModule load(File jar, Manifest manifest) throws Stop, IOException {
        String name = manifest == null ? null : manifest.getMainAttributes().getValue(ATTRIBUTE);
        if (name == null) {
            throw new Stop("its manifest does not say which class is the module (" + ATTRIBUTE
                    + ": com.acme.MyModule)");
        }
        // Do not close it: the module loads classes from it while it runs.
        ClassLoader loader = new URLClassLoader(new URL[] {jar.toURI().toURL()},
                Host.class.getClassLoader());
        try {
            Object module = Class.forName(name, true, loader).getConstructor().newInstance();
            if (!(module instanceof UserModule)) {
                throw new Stop(name + " does not implement " + UserModule.class.getName());
            }
            return (UserModule) module;
        } catch (ReflectiveOperationException | LinkageError e) {
            throw new Stop(name + " cannot be made: " + (e.getCause() == null ? e : e.getCause()));
        }
    }

    private static void greet(DataInputStream in, DataOutputStream out, JarFile jar)
            throws Stop, IOException {
        byte[] magic = new byte[MAGIC.length()];
        in.readFully(magic);
        if (!new String(magic, "US-ASCII").equals(MAGIC)) {
            throw new Stop("cctrewrite speaks another version of the protocol");
        }
        List<String> names = new ArrayList<String>();
        for (JarEntry entry : Collections.list(jar.entries())) {
            String name = entry.getName();
            if (name.startsWith(RUNTIME) && name.endsWith(".class")) {
                names.add(name);
            }
        }
        Collections.sort(names);
        out.write(magic);
        out.writeInt(names.size());
        for (String name : names) {
            field(out, name.substring(0, name.length() - ".class".length()).getBytes("UTF-8"));
            try (InputStream entry = jar.getInputStream(jar.getJarEntry(name))) {
                field(out, all(entry));
            }
        }
        out.flush();
    }

    private static void serve(UserModule module, DataInputStream in, DataOutputStream out)
            throws IOException {
        while (true) {
            int length;
            try {
                length = in.readInt();
            } catch (EOFException e) {
                return;
            }
            String name = new String(field(in, length), "UTF-8");
            byte[] bytes = field(in, in.readInt());
            // The module may write into its argument.
            answer(module, name, bytes, out);
            out.flush();
        }
    }

    private static void answer(UserModule module, String name, byte[] bytes, DataOutputStream out)
            throws IOException {
        byte[] made;
        try {
            made = module.transform(name, bytes);
        } catch (Abort e) {
            out.write(ABORT);
            field(out, String.valueOf(e.getMessage()).getBytes("UTF-8"));
            return;
        } catch (Throwable e) {
            e.printStackTrace();
            out.write(FAILED);
            field(out, e.toString().getBytes("UTF-8"));
            return;
        }
        if (made == null) {
            out.write(KEEP);
        } else {
            out.write(REPLACE);
            field(out, made);
        }
    }

    private static void field(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    private static byte[] field(DataInputStream in, int length) throws IOException {
        if (length < 0 || length > LARGEST) {
            throw new IOException("a field of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return bytes;
    }

    private static byte[] all(InputStream in) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            bytes.write(buffer, 0, n);
        }
        return bytes.toByteArray();
    }
}
