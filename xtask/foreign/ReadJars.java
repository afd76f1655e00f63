import java.io.BufferedReader;
import java.io.FileReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.classfile.Attribute;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CompoundElement;
import java.lang.classfile.CodeModel;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Reads every class of jars down to the last instruction with the JDK's own reader of class files,
 * and writes a line for each: jar, entry, and {@code read} or what was thrown.
 *
 * <p>Arguments: a file that names the jars, one on each line, and the file to write.
 */
public class ReadJars {
    public static void main(String[] args) throws IOException {
        ClassFile reader = ClassFile.of();
        try (BufferedReader list = new BufferedReader(new FileReader(args[0])); PrintWriter out = new PrintWriter(args[1], "UTF-8")) {
            for (String path = list.readLine(); path != null; path = list.readLine()) {
                String name = path.substring(path.lastIndexOf('/') + 1);
                try (JarFile jar = new JarFile(path)) {
                    for (JarEntry entry : Collections.list(jar.entries())) {
                        if (entry.getName().endsWith(".class")) {
                            byte[] bytes = jar.getInputStream(entry).readAllBytes();
                            out.println(name + "\t" + entry.getName() + "\t" + read(reader, bytes));
                        }
                    }
                }
            }
            if (out.checkError()) {
                throw new IOException(args[1] + " cannot be written");
            }
        }
    }

    private static String read(ClassFile reader, byte[] bytes) {
        try {
            ClassModel model = reader.parse(bytes);
            walk(model);
            return "read";
        } catch (Throwable e) {
            return e.toString().replace('\t', ' ').replace('\n', ' ').replace('\r', ' ');
        }
    }

    private static void walk(CompoundElement<?> element) {
        if (element instanceof AttributedElement attributed) {
            List<Attribute<?>> attributes = attributed.attributes();
            // What is read lazily is read by being shown.
            attributes.forEach(Attribute::toString);
        }
        for (Object part : element) {
            if (part instanceof CompoundElement<?> inner) {
                walk(inner);
            } else {
                part.toString();
            }
        }
    }
}
