package cctrewrite.runtime;

/**
 * The methods of a class that was not rewritten that may override one of a rewritten superclass.
 * Rewritten callers call the superclass's extended form, which the class does not have. So its
 * override would not run.
 */
final class Overrides {
    /** Method flag of the index: the program would miss such an override. */
    private static final int MISSED = 2;

    /**
     * Method flag of the index: only classes of its own package can override the method (JVMS
     * 5.4.5).
     */
    private static final int PACKAGE_PRIVATE = 8;

    private final String className;
    private final String[] names;
    private final String[] descriptors;
    private boolean reported;

    /** Another class that waits for the same superclass. */
    Overrides next;

    Overrides(ClassBytes c) {
        className = c.name;
        int count = 0;
        for (int i = 0; i < c.methods; i++) {
            if (c.mayOverride(i)) {
                count++;
            }
        }
        names = new String[count];
        descriptors = new String[count];
        for (int i = 0, k = 0; i < c.methods; i++) {
            if (c.mayOverride(i)) {
                names[k] = c.methodName(i);
                descriptors[k++] = c.methodDescriptor(i);
            }
        }
    }

    void against(String superName, KnownClass known) {
        KnownClass.Methods methods = new KnownClass.Methods(known);
        while (methods.next()) {
            if (counts(methods.flags, superName)) {
                String name = methods.name();
                String descriptor = methods.descriptor();
                for (int i = 0; i < names.length; i++) {
                    if (names[i].equals(name) && descriptors[i].equals(descriptor)) {
                        missed(superName, i);
                    }
                }
            }
        }
    }

    void against(String superName, Index index, int classNumber) {
        int[] nameNumbers = new int[names.length];
        for (int i = 0; i < names.length; i++) {
            nameNumbers[i] = index.findString(names[i]);
        }
        Index.Methods methods = index.new Methods();
        methods.of(classNumber);
        while (methods.next()) {
            if (counts(methods.flags, superName)) {
                for (int i = 0; i < names.length; i++) {
                    if (nameNumbers[i] == methods.name
                            && descriptors[i].equals(index.string(methods.descriptor))) {
                        missed(superName, i);
                    }
                }
            }
        }
    }

    private boolean counts(int flags, String superName) {
        return (flags & MISSED) != 0 && ((flags & PACKAGE_PRIVATE) == 0
                || packageOf(superName).equals(packageOf(className)));
    }

    private static String packageOf(String name) {
        return name.substring(0, name.lastIndexOf('/') + 1);
    }

    private void missed(String superName, int i) {
        if (reported) {
            return;
        }
        reported = true;
        String what = "class " + className + " was not rewritten and overrides "
                + names[i] + descriptors[i] + " of " + superName
                + ", which rewritten code calls by another signature: the override would not run";
        if (Settings.RAW.equals("refuse")) {
            throw new IncompatibleClassChangeError("cctrewrite: " + what
                    + ". Run `cctrewrite instrument` with `--library` on its jar, or accept "
                    + "that with -Dcctrewrite.raw=warn or -Dcctrewrite.raw=allow");
        }
        if (Settings.RAW.equals("warn")) {
            Settings.say(what);
        }
        RawClasses.note(what);
    }
}
