package cctrewrite.typestate;

import cctrewrite.markers.CallingContexts;
import java.util.concurrent.ConcurrentHashMap;

/** Finds out whether the program or the class library calls a marked method. */
final class Callers {
    /** By the names of classes on stacks: whether they are part of the class library. */
    private static final ConcurrentHashMap<String, Boolean> LIBRARY = new ConcurrentHashMap<>();

    /** The loader of the JDK's modules; of the extensions up to JDK 8. Null if there is none. */
    private static final ClassLoader PLATFORM = ClassLoader.getSystemClassLoader().getParent();

    private Callers() {}

    /**
     * Whether the program calls the method of the innermost marker. Constructors of the class
     * library belong to their caller: {@code new FileReader(file)} makes a {@code FileInputStream}.
     */
    static boolean isProgram() {
        for (int place = 1; ; place++) {
            StackTraceElement frame = CallingContexts.frame(place);
            if (frame == null) {
                // Native code calls.
                return false;
            }
            if (!isOfLibrary(frame.getClassName())) {
                return true;
            }
            if (!frame.getMethodName().equals("<init>")) {
                return false;
            }
        }
    }

    private static boolean isOfLibrary(String name) {
        Boolean known = LIBRARY.get(name);
        if (known == null) {
            known = find(name);
            LIBRARY.put(name, known);
        }
        return known;
    }

    /** Looks up a class that is on a stack, and so is loaded. This initialises none. */
    private static boolean find(String name) {
        try {
            Class.forName(name, false, PLATFORM);
            return true;
        } catch (ClassNotFoundException | LinkageError program) {
            return false;
        }
    }
}
