import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Rewrites a jar with ASM, on one thread, the way ASM is commonly used: reader, visitors, writer, one class after the other.
 *
 * <pre>
 *   java AsmRewrite copy|transform IN.jar OUT.jar PASSES
 * </pre>
 *
 * Prints for each pass: seconds, bytes of classes before, and after. Passes after the first show the speed of compiled code.
 */
public final class AsmRewrite {
    private long bytesBefore;
    private long bytesAfter;

    public static void main(String[] arguments) throws IOException {
        boolean transform = arguments[0].equals("transform");
        for (int pass = 0; pass < Integer.parseInt(arguments[3]); pass++) {
            long start = System.nanoTime();
            AsmRewrite work = new AsmRewrite();
            work.jar(arguments[1], arguments[2], transform);
            System.out.println((System.nanoTime() - start) / 1e9 + " " + work.bytesBefore + " " + work.bytesAfter);
        }
    }

    /** Entries keep their order, their names and their method of compression. */
    private void jar(String from, String to, boolean transform) throws IOException {
        try (ZipFile in = new ZipFile(from);
                ZipOutputStream out = new ZipOutputStream(new BufferedOutputStream(new FileOutputStream(to), 1 << 16))) {
            for (ZipEntry entry : Collections.list(in.entries())) {
                byte[] bytes = read(in.getInputStream(entry), (int) entry.getSize());
                if (entry.getName().endsWith(".class")) {
                    bytesBefore += bytes.length;
                    bytes = transform ? transform(bytes) : copy(bytes);
                    bytesAfter += bytes.length;
                }
                write(out, entry, bytes);
            }
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

    /**
     * Every instruction is visited and written again. The visitors in between do nothing, but keep ASM from copying whole methods as
     * bytes, which it does when the reader's events go straight to the writer.
     */
    private static byte[] copy(byte[] original) {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, 0);
        reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
                return new MethodVisitor(Opcodes.ASM9, super.visitMethod(access, name, descriptor, signature, exceptions)) { };
            }
        }, 0);
        return writer.toByteArray();
    }

    /** Frames are patched as the code is copied, never computed anew; ASM computes the sizes of stacks and locals. */
    private static byte[] transform(byte[] original) {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new AsmContexts(writer), 0);
        return writer.toByteArray();
    }
}
