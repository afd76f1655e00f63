package cctrewrite.runtime;

import java.io.DataInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** A jar or folder on one of the class paths that carries an index: something that cctrewrite made. In bypass. */
final class Output {
    private static final String RESOURCE = "META-INF/cctrewrite/index";

    final File file;
    final String provenance;
    final long hash;

    /** Whether it is on the boot class path: the library, whose classes are not seen when they are defined. */
    final boolean boot;

    private Index index;

    private Output(File file, String provenance, boolean boot) {
        this.file = file;
        this.provenance = provenance;
        this.hash = Xxh3.hash(Mutf8.utf8(provenance));
        this.boot = boot;
    }

    /**
     * Looks at a class path entry; reads no more than the provenance.
     *
     * @return null when it is no output or cannot be opened, which is for the program to find out
     * @throws IOException when it has an index that cannot be read
     */
    static Output open(File file, boolean boot) throws IOException {
        byte[] head = new byte[12];
        byte[] lines;
        if (file.isDirectory()) {
            File resource = new File(file, RESOURCE);
            if (!resource.isFile()) {
                return null;
            }
            lines = provenance(new FileInputStream(resource), head);
        } else {
            if (!file.isFile()) {
                return null;
            }
            ZipFile zip;
            try {
                zip = new ZipFile(file);
            } catch (IOException e) {
                return null;
            }
            try {
                ZipEntry entry = zip.getEntry(RESOURCE);
                if (entry == null) {
                    return null;
                }
                lines = provenance(zip.getInputStream(entry), head);
            } finally {
                zip.close();
            }
        }
        return new Output(file, Mutf8.decode(lines, 0, lines.length), boot);
    }

    private static byte[] provenance(InputStream stream, byte[] head) throws IOException {
        try {
            DataInputStream in = new DataInputStream(stream);
            in.readFully(head);
            byte[] lines = new byte[Index.provenanceLength(head)];
            in.readFully(lines);
            return lines;
        } finally {
            stream.close();
        }
    }

    /** The whole index, read at the first call. Null when the file has become unreadable. */
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

    /** The bytes of the index. */
    byte[] whole() throws IOException {
        if (file.isDirectory()) {
            File resource = new File(file, RESOURCE);
            return bytes(new FileInputStream(resource), resource.length());
        }
        ZipFile zip = new ZipFile(file);
        try {
            ZipEntry entry = zip.getEntry(RESOURCE);
            if (entry == null) {
                throw new IOException("no index");
            }
            return bytes(zip.getInputStream(entry), entry.getSize());
        } finally {
            zip.close();
        }
    }

    private static byte[] bytes(InputStream stream, long size) throws IOException {
        try {
            if (size < 0 || size > Integer.MAX_VALUE - 8) {
                throw new IOException("an index of " + size + " bytes");
            }
            byte[] bytes = new byte[(int) size];
            new DataInputStream(stream).readFully(bytes);
            return bytes;
        } finally {
            stream.close();
        }
    }

    /** The value of a provenance key; null when the key is missing. */
    String value(String key) {
        int from = 0;
        while (from < provenance.length()) {
            int end = provenance.indexOf('\n', from);
            if (end < 0) {
                end = provenance.length();
            }
            if (provenance.startsWith(key, from) && from + key.length() < end && provenance.charAt(from + key.length()) == '=') {
                return provenance.substring(from + key.length() + 1, end);
            }
            from = end + 1;
        }
        return null;
    }
}
