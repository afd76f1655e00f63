import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.apache.bcel.classfile.ClassParser;
import org.apache.bcel.classfile.JavaClass;
import org.apache.bcel.classfile.Method;
import org.apache.bcel.generic.ClassGen;
import org.apache.bcel.generic.ConstantPoolGen;
import org.apache.bcel.generic.MethodGen;

/** Copies classes with Apache BCEL. */
public final class BcelCopy {
    public static void main(String[] arguments) throws IOException {
        Rewriting.run(arguments, BcelCopy::copy);
    }

    /**
     * The class is parsed with all its attributes; the code of each method becomes a list of
     * instructions, as whoever changes something needs it, and is written from that. Sizes of
     * stacks and locals, and frames, stay as they are.
     */
    private static byte[] copy(byte[] original, String name) throws IOException {
        JavaClass parsed = new ClassParser(new ByteArrayInputStream(original), name).parse();
        ClassGen made = new ClassGen(parsed);
        ConstantPoolGen constants = made.getConstantPool();
        for (Method method : made.getMethods()) {
            if (method.getCode() != null) {
                MethodGen body = new MethodGen(method, made.getClassName(), constants);
                made.replaceMethod(method, body.getMethod());
                body.getInstructionList().dispose();
            }
        }
        return made.getJavaClass().getBytes();
    }
}
