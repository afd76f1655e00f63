import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * What the harnesses have in common: jars are rewritten on one thread, one class after the other.
 *
 * <pre>
 *   java HARNESS OUT_FOLDER PASSES IN.jar...
 * </pre>
 *
 * Prints for each pass: seconds, bytes of classes before, and after, and the number of classes left
 * as they were. Passes after the first show the speed of compiled code.
 */
final class Rewriting {
    /** What a library does to a class; null if it has to leave it as it is. */
    interface OfClass {
        byte[] rewrite(byte[] original, String name) throws IOException;
    }

    private final OfClass work;
    private long bytesBefore;
    private long bytesAfter;
    private int left;

    private Rewriting(OfClass work) {
        this.work = work;
    }

    /** The whole of a harness. */
    static void run(String[] arguments, OfClass work) throws IOException {
        File folder = new File(arguments[0]);
        for (int pass = 0; pass < Integer.parseInt(arguments[1]); pass++) {
            long start = System.nanoTime();
            Rewriting rewriting = new Rewriting(work);
            for (int i = 2; i < arguments.length; i++) {
                File from = new File(arguments[i]);
                rewriting.jar(from, new File(folder, from.getName()));
            }
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.println(seconds + " " + rewriting.bytesBefore + " " + rewriting.bytesAfter + " " + rewriting.left);
        }
    }

    /** Entries keep their order, their names and their method of compression. */
    private void jar(File from, File to) throws IOException {
        try (ZipFile in = new ZipFile(from);
                ZipOutputStream out = new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(to), 1 << 16))) {
            for (ZipEntry entry : Collections.list(in.entries())) {
                byte[] bytes = read(in.getInputStream(entry), (int) entry.getSize());
                if (entry.getName().endsWith(".class")) {
                    bytesBefore += bytes.length;
                    bytes = rewrite(bytes, entry.getName(), from);
                    bytesAfter += bytes.length;
                }
                write(out, entry, bytes);
            }
        }
    }

    private byte[] rewrite(byte[] original, String name, File from) throws IOException {
        try {
            byte[] rewritten = work.rewrite(original, name);
            left += rewritten == null ? 1 : 0;
            return rewritten == null ? original : rewritten;
        } catch (RuntimeException e) {
            throw new IOException(from.getName() + ", " + name + ": " + e, e);
        }
    }

    private static byte[] read(InputStream in, int size) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.max(size, 32));
        byte[] buffer = new byte[1 << 14];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            bytes.write(buffer, 0, n);
        }
        return bytes.toByteArray();
    }

    private static void write(ZipOutputStream out, ZipEntry like, byte[] bytes) throws IOException {
        ZipEntry entry = new ZipEntry(like.getName());
        entry.setTime(like.getTime());
        entry.setMethod(like.getMethod());
        if (like.getMethod() == ZipEntry.STORED) {
            CRC32 crc = new CRC32();
            crc.update(bytes, 0, bytes.length);
            entry.setCrc(crc.getValue());
            entry.setSize(bytes.length);
        }
        out.putNextEntry(entry);
        out.write(bytes);
        out.closeEntry();
    }
}
