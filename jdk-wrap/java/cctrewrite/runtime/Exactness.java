package cctrewrite.runtime;

import java.util.ArrayList;

/**
 * JVM options without which compiled code omits calls that the interpreter makes. The JVM never
 * treats a method with an extended signature as an intrinsic. The table lists the intrinsics that
 * replace bodies with their original signature. In bypass.
 */
final class Exactness {
    /**
     * When an option matters: always; only while classes that were not rewritten call the library
     * by its original signatures; only where the bodies of intrinsics are counted
     * ({@code --intrinsics bytecode}), in all JDKs or in JDK 8.
     */
    private static final int ALWAYS = 0;
    private static final int WITH_RAW_CLASSES = 1;
    private static final int WITH_BODIES = 2;
    private static final int WITH_BODIES_ON_JDK_8 = 3;

    private static final class Option {
        final String flag;
        final String wanted;
        final int when;
        final String why;

        Option(String flag, String wanted, int when, String why) {
            this.flag = flag;
            this.wanted = wanted;
            this.when = when;
            this.why = why;
        }

        /** Whether the JVM accepts the option only after {@code UnlockDiagnosticVMOptions}. */
        boolean diagnostic() {
            return flag.equals("DisableIntrinsic");
        }

        /**
         * Whether the option's value is sufficient: a list ({@code ccstrlist}) must contain the
         * word, another option must equal it.
         */
        boolean satisfied(String value) {
            if (flag.equals("DisableIntrinsic")) {
                String words = ',' + value.replace('\n', ',').replace(' ', ',') + ',';
                return words.contains(',' + wanted + ',');
            }
            return value.equals(wanted);
        }

        String spelled() {
            if (wanted.equals("false") || wanted.equals("true")) {
                return "-XX:" + (wanted.equals("true") ? '+' : '-') + flag;
            }
            return "-XX:+UnlockDiagnosticVMOptions -XX:" + flag + '=' + wanted;
        }
    }

    private static final Option[] OPTIONS = {
        new Option("OmitStackTraceInFastThrow", "false", ALWAYS,
                "compiled code throws ready-made exceptions whose constructors do not run"),
        new Option("DisableIntrinsic", "_equals", WITH_BODIES_ON_JDK_8,
                "C2 replaces String.equals"),
        new Option("DisableIntrinsic", "_profileBoolean", WITH_BODIES,
                "C2 replaces MethodHandleImpl.profileBoolean"),
        new Option("DisableIntrinsic", "_isCompileConstant", ALWAYS,
                "C2 replaces MethodHandleImpl.isCompileConstant"),
        new Option("EliminateAutoBox", "false", WITH_RAW_CLASSES,
                "C2 leaves out boxing by classes that were not rewritten"),
        new Option("OptimizeStringConcat", "false", WITH_RAW_CLASSES,
                "C2 replaces string concatenation by classes that were not rewritten"),
    };

    private Exactness() {}

    /**
     * Adds a note for each missing option. An option that this JVM does not know is not needed.
     *
     * @return whether the JVM options permit exact numbers
     */
    static boolean check(boolean rawClasses, boolean bodies, ArrayList<String> notes) {
        VmFlags flags = VmFlags.open();
        if (flags == null) {
            notes.add("the JVM options that exact numbers need could not be looked up in this JVM");
            return false;
        }
        boolean unlocked = "true".equals(flags.value("UnlockDiagnosticVMOptions"));
        boolean exact = true;
        for (int i = 0; i < OPTIONS.length; i++) {
            Option option = OPTIONS[i];
            if (!matters(option, rawClasses, bodies)) {
                continue;
            }
            String value = flags.value(option.flag);
            if (value == null && option.diagnostic() && !unlocked) {
                value = "";
            }
            if (value != null && !option.satisfied(value)) {
                exact = false;
                notes.add("not exact without " + option.spelled() + ": " + option.why);
            }
        }
        String depth = flags.value("MaxJavaStackTraceDepth");
        long wanted = CctTraces.wantedOfTheJvm();
        if (depth != null && !enough(Decimal.of(depth, wanted), wanted)) {
            notes.add("stack traces could be shorter than the plain "
                    + "program's without -XX:MaxJavaStackTraceDepth=" + wanted);
        }
        return exact;
    }

    private static boolean matters(Option option, boolean rawClasses, boolean bodies) {
        switch (option.when) {
            case WITH_RAW_CLASSES:
                return rawClasses;
            case WITH_BODIES:
                return bodies;
            case WITH_BODIES_ON_JDK_8:
                // In later JDKs String.equals calls other methods that the JVM replaces, and these
                // have extended forms.
                return bodies && JavaVersion.FEATURE == 8;
            default:
                return true;
        }
    }

    private static boolean enough(long depth, long wanted) {
        return CctTraces.isNoLimit(depth) || !CctTraces.isNoLimit(wanted) && depth >= wanted;
    }
}
