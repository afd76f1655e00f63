import java.io.IOException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassTooLargeException;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.LimitExceededException;
import org.objectweb.asm.MethodTooLargeException;

/** Does about the work of cctrewrite with ASM: {@link AsmContexts}. */
public final class AsmTransform {
    public static void main(String[] arguments) throws IOException {
        Rewriting.run(arguments, (original, name) -> transform(original));
    }

    /**
     * Frames are patched as the code is copied, never computed anew; ASM computes the sizes of
     * stacks and locals. A class stays as it is if one of its methods, or its constants, would
     * exceed what a class file can hold, or ASM finds a method too laborious.
     */
    private static byte[] transform(byte[] original) {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        try {
            reader.accept(new AsmContexts(writer), 0);
            return writer.toByteArray();
        } catch (MethodTooLargeException | ClassTooLargeException | LimitExceededException e) {
            return null;
        }
    }
}
