package example;

import cctrewrite.udi.Abort;
import cctrewrite.udi.UserModule;
import java.io.IOException;

/**
 * A module that has each method say in which class it was entered:
 * {@code Entries.entered("java/util/HashMap")}. When the JVM ends, {@code Entries.report()} writes
 * how often that was, for each class.
 */
public final class EntryCounter implements UserModule {
    private static final String ENTRIES = "cctrewrite/udi/runtime/Entries";

    @Override
    public byte[] transform(String name, byte[] classFile) throws IOException, Abort {
        if (name.equals("java/lang/Object")) {
            // Its constructor must stay, and its other methods are entered before there is
            // anything.
            throw new Abort("entries of java.lang.Object are not counted");
        }
        Prepender prepender = new Prepender(classFile);
        return prepender.transform((method, code) -> {
            if (method.equals("finalize")) {
                // An empty one tells the JVM that there is nothing to finalize.
                return;
            }
            code.loadString(name);
            code.invokeStatic(ENTRIES, "entered", "(Ljava/lang/String;)V");
            if (name.equals("java/lang/Shutdown") && (method.equals("shutdown") || method.equals("halt"))) {
                code.invokeStatic(ENTRIES, "report", "()V");
            }
        });
    }
}
