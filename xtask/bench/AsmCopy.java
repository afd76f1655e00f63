import java.io.IOException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Copies classes with ASM, the way it is commonly used: reader, visitors, writer. */
public final class AsmCopy {
    public static void main(String[] arguments) throws IOException {
        Rewriting.run(arguments, (original, name) -> copy(original));
    }

    /**
     * Every instruction is visited and written again. The visitors in between do nothing, but keep
     * ASM from copying whole methods as bytes, which it does when the reader's events go straight
     * to the writer.
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
}
