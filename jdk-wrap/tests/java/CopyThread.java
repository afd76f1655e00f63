import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;

/** Copies the class file of this JVM's Thread to a file. */
public final class CopyThread {
    public static void main(String[] args) throws Exception {
        InputStream in = Object.class.getResourceAsStream("/java/lang/Thread.class");
        OutputStream out = new FileOutputStream(args[0]);
        byte[] buffer = new byte[8192];
        for (int n; (n = in.read(buffer)) > 0; ) {
            out.write(buffer, 0, n);
        }
        out.close();
    }
}
