package cctrewrite.runtime;

import java.lang.reflect.Method;
import java.util.ArrayList;

/**
 * JVM options without which compiled code leaves out calls that the interpreter makes. Methods with an extended signature are never taken for
 * an intrinsic; the table lists what replaces bodies with their original signature. In bypass.
 */
final class Exactness {
    /**
     * Always; or only while classes that were not rewritten call the library by its original signatures; or only where the bodies of intrinsics
     * are counted ({@code --intrinsics bytecode}).
     */
    private static final int ALWAYS = 0;
    private static final int WITH_RAW_CLASSES = 1;
    private static final int WITH_BODIES = 2;

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

        /** Whether the JVM denies knowing it until diagnostic options are unlocked. */
        boolean diagnostic() {
            return flag.equals("DisableIntrinsic");
        }

        /** Lists ({@code ccstrlist}) must contain the word, other flags equal it. */
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
        new Option("OmitStackTraceInFastThrow", "false", ALWAYS, "compiled code throws ready-made exceptions whose constructors do not run"),
        new Option("DisableIntrinsic", "_equals", WITH_BODIES, "C2 replaces String.equals"),
        new Option("DisableIntrinsic", "_profileBoolean", WITH_BODIES, "C2 replaces MethodHandleImpl.profileBoolean"),
        new Option("DisableIntrinsic", "_isCompileConstant", ALWAYS, "C2 replaces MethodHandleImpl.isCompileConstant"),
        new Option("EliminateAutoBox", "false", WITH_RAW_CLASSES, "C2 leaves out boxing by classes that were not rewritten"),
        new Option("OptimizeStringConcat", "false", WITH_RAW_CLASSES, "C2 replaces string concatenation by classes that were not rewritten"),
    };

    private Exactness() {}

    /**
     * Adds a note for each option that is missing; an option that this JVM does not know is not needed.
     *
     * @return whether the numbers are exact as far as options go
     */
    static boolean check(boolean rawClasses, boolean bodies, ArrayList<String> notes) {
        Method getFlag;
        Method getValue;
        try {
            Class<?> type = flags();
            getFlag = type.getDeclaredMethod("getFlag", String.class);
            getFlag.setAccessible(true);
            getValue = type.getDeclaredMethod("getValue");
            getValue.setAccessible(true);
        } catch (Throwable e) {
            notes.add("the JVM options that exact numbers need could not be looked up in this JVM");
            return false;
        }
        boolean unlocked = "true".equals(value(getFlag, getValue, "UnlockDiagnosticVMOptions"));
        boolean exact = true;
        for (int i = 0; i < OPTIONS.length; i++) {
            Option option = OPTIONS[i];
            if (option.when == WITH_RAW_CLASSES && !rawClasses || option.when == WITH_BODIES && !bodies) {
                continue;
            }
            String value = value(getFlag, getValue, option.flag);
            if (value == null && option.diagnostic() && !unlocked) {
                value = "";
            }
            if (value != null && !option.satisfied(value)) {
                exact = false;
                notes.add("not exact without " + option.spelled() + ": " + option.why);
            }
        }
        String depth = value(getFlag, getValue, "MaxJavaStackTraceDepth");
        long wanted = CctTraces.wantedOfTheJvm();
        if (depth != null && !enough(Long.parseLong(depth), wanted)) {
            notes.add("stack traces could be shorter than the plain program's without -XX:MaxJavaStackTraceDepth=" + wanted);
        }
        return exact;
    }

    /** The management classes' view of the JVM's options; the first class named loads the native library behind the second. */
    private static Class<?> flags() throws ClassNotFoundException {
        try {
            Class.forName("sun.management.ManagementFactoryHelper");
            return Class.forName("sun.management.Flag");
        } catch (ClassNotFoundException e) {
            // Since JDK 9. Module java.base may look into all others.
            Class.forName("com.sun.management.internal.PlatformMBeanProviderImpl");
            return Class.forName("com.sun.management.internal.Flag");
        }
    }

    /** Both below 0 where there is no limit. */
    private static boolean enough(long depth, long wanted) {
        return depth < 0L || wanted >= 0L && depth >= wanted;
    }

    /** A flag's value; null when this JVM does not know it, or keeps it locked. */
    private static String value(Method getFlag, Method getValue, String name) {
        try {
            Object flag = getFlag.invoke(null, name);
            return flag == null ? null : String.valueOf(getValue.invoke(flag));
        } catch (Throwable e) {
            return null;
        }
    }
}
