package cctrewrite.markers;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Loads clients that are not on the program's class path: {@code -Dcctrewrite.markers.client-path}.
 * Their classes can access those of the program, and get no markers themselves.
 */
final class ClientLoader extends URLClassLoader {
    private ClientLoader(URL[] path, ClassLoader parent) {
        super(path, parent);
    }

    /** The loader of clients: the program's, if clients have no path of their own. */
    static ClassLoader of(String path) {
        ClassLoader program = ClassLoader.getSystemClassLoader();
        if (path == null || path.isEmpty()) {
            return program;
        }
        String[] parts = path.split(File.pathSeparator);
        URL[] urls = new URL[parts.length];
        try {
            for (int i = 0; i < parts.length; i++) {
                urls[i] = new File(parts[i]).toURI().toURL();
            }
        } catch (MalformedURLException problem) {
            System.err.println("cctrewrite: markers: the path of clients: " + problem);
            return program;
        }
        return new ClientLoader(urls, program);
    }
}
