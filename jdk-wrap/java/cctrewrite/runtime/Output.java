package cctrewrite.runtime;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A jar, folder or image with an index, as cctrewrite writes it. In bypass. */
final class Output {
    /** The index in a jar, a folder, or module java.base. */
    private static final String RESOURCE = "cctrewrite-output/index";

    /** The file that an output replaces (docs/reference/formats/index.md), in module java.base. */
    private static final String PLACE = "cctrewrite-output/place";

    // The place of the index.
    private static final int JAR = 0;
    private static final int FOLDER = 1;
    private static final int BESIDE_IMAGE = 2;
    private static final int IN_IMAGE = 3;

    /** The file or folder as messages name it. */
    final File file;

    /**
     * Whether it is on the boot class path: then it is part of the library, and the runtime does
     * not see the definitions of its classes.
     */
    final boolean boot;

    final String provenance;
    final long hash;

    private final int place;
    private Index index;

    private Output(File file, int place, boolean boot, String provenance) {
        this.file = file;
        this.place = place;
        this.boot = boot;
        this.provenance = provenance;
        this.hash = Xxh3.hash(Mutf8.utf8(provenance));
    }

    /**
     * Opens a class path entry. Reads no more than the provenance.
     *
     * @return null if it is no output or cannot be opened; in the latter case the program itself
     *     will find that out
     * @throws IOException if it has an index that cannot be read
     */
    static Output open(File file, boolean boot) throws IOException {
        return open(file, file.isDirectory() ? FOLDER : JAR, boot);
    }

    /**
     * Opens the image that the JVM runs on. Its index is {@code file}, or a resource if there is no
     * such file.
     */
    static Output image(File file) throws IOException {
        return open(file, file.isFile() ? BESIDE_IMAGE : IN_IMAGE, true);
    }

    private static Output open(File file, int place, boolean boot) throws IOException {
        Source source = source(file, place);
        if (source == null) {
            return null;
        }
        try {
            byte[] head = new byte[12];
            source.fill(head);
            byte[] lines = new byte[Index.provenanceLength(head)];
            source.fill(lines);
            return new Output(file, place, boot, Mutf8.decode(lines, 0, lines.length));
        } finally {
            source.close();
        }
    }

    /** An open index. */
    private static final class Source {
        final InputStream stream;

        /** Its size in bytes; -1 if it is unknown. */
        final long size;
        private final ZipFile zip;

        Source(InputStream stream, long size, ZipFile zip) {
            this.stream = stream;
            this.size = size;
            this.zip = zip;
        }

        /**
         * Fills the array from the stream. A {@code DataInputStream} could do so, too, but the
         * program must be the first to initialise that class.
         */
        void fill(byte[] bytes) throws IOException {
            for (int read = 0; read < bytes.length; ) {
                int n = stream.read(bytes, read, bytes.length - read);
                if (n < 0) {
                    throw new EOFException();
                }
                read += n;
            }
        }

        void close() throws IOException {
            stream.close();
            if (zip != null) {
                zip.close();
            }
        }
    }

    /** Null if there is no index. */
    private static Source source(File file, int place) throws IOException {
        switch (place) {
            case FOLDER:
                File resource = new File(file, RESOURCE);
                return resource.isFile()
                        ? new Source(new FileInputStream(resource), resource.length(), null) : null;
            case BESIDE_IMAGE:
                return new Source(new FileInputStream(file), file.length(), null);
            case IN_IMAGE:
                InputStream stream = Object.class.getResourceAsStream('/' + RESOURCE);
                return stream == null ? null : new Source(stream, -1L, null);
            default:
                return file.isFile() ? inJar(file) : null;
        }
    }

    /**
     * Whether jlink created the image that contains the index. jlink generates some classes itself,
     * and these were not rewritten.
     */
    boolean isLinked() throws IOException {
        InputStream stream = place == IN_IMAGE
                ? Object.class.getResourceAsStream('/' + PLACE) : null;
        if (stream == null) {
            return false;
        }
        try {
            byte[] start = new byte[4];
            return stream.read(start) == start.length && start[0] == 'j' && start[1] == 'm';
        } finally {
            stream.close();
        }
    }

    private static Source inJar(File file) throws IOException {
        ZipFile zip;
        try {
            zip = new ZipFile(file);
        } catch (IOException e) {
            return null;
        }
        ZipEntry entry = zip.getEntry(RESOURCE);
        if (entry == null) {
            zip.close();
            return null;
        }
        return new Source(zip.getInputStream(entry), entry.getSize(), zip);
    }

    /** The whole index, read at the first call. Null if the file has become unreadable. */
    Index index() {
        synchronized (this) {
            if (index != null) {
                return index;
            }
        }
        Index read = null;
        try {
            read = new Index(whole());
        } catch (IOException e) {
            Settings.say(file + ": the index of this output cannot be read: " + e.getMessage());
        }
        synchronized (this) {
            index = read;
        }
        return read;
    }

    /** The file that is the index and nothing else; null if the index is part of another file. */
    File indexFile() {
        return place == BESIDE_IMAGE ? file : place == FOLDER ? new File(file, RESOURCE) : null;
    }

    /** The jar that contains the index; null if it is in no jar. */
    String jar() {
        return place == JAR ? file.getPath() : null;
    }

    /**
     * The bytes of the index. These are megabytes, and the heap may be small: do not hold them
     * twice.
     */
    byte[] whole() throws IOException {
        Source source = source(file, place);
        if (source == null) {
            throw new IOException("no index");
        }
        try {
            if (source.size >= 0L && source.size < Integer.MAX_VALUE) {
                byte[] bytes = new byte[(int) source.size];
                source.fill(bytes);
                return bytes;
            }
            ByteArrayOutputStream whole = new ByteArrayOutputStream(1 << 20);
            byte[] part = new byte[1 << 16];
            for (int n = source.stream.read(part); n >= 0; n = source.stream.read(part)) {
                whole.write(part, 0, n);
            }
            return whole.toByteArray();
        } finally {
            source.close();
        }
    }

    /** The value of a provenance key; null if there is no such key. */
    String value(String key) {
        int from = 0;
        while (from < provenance.length()) {
            int end = provenance.indexOf('\n', from);
            if (end < 0) {
                end = provenance.length();
            }
            if (Prefix.isAt(provenance, from, key) && from + key.length() < end
                    && provenance.charAt(from + key.length()) == '=') {
                return provenance.substring(from + key.length() + 1, end);
            }
            from = end + 1;
        }
        return null;
    }
}
