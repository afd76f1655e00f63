package cctrewrite.runtime;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/**
 * Finds out why a run may differ from the next one, where the outputs were written with
 * {@code --reproducible} (docs/ci/reproducible.md). In bypass.
 */
final class Reproducibility {
    private static final class Option {
        final String flag;
        final String wanted;
        /**
         * Another sufficient value; {@link #ANY} if every value that the user gives is sufficient.
         */
        final String also;
        final int since;
        final int until;
        final String why;

        Option(String flag, String wanted, String also, int since, int until, String why) {
            this.flag = flag;
            this.wanted = wanted;
            this.also = also;
            this.since = since;
            this.until = until;
            this.why = why;
        }

        boolean property() {
            return flag.indexOf('.') >= 0;
        }

        boolean satisfied(String value) {
            return value.equals(wanted) || value.equals(also) || also == ANY
                    && !value.startsWith("-");
        }

        String spelled() {
            if (property()) {
                return "-D" + flag + '=' + wanted;
            }
            if (wanted.equals("false") || wanted.equals("true")) {
                String unlock = flag.equals("BytecodeVerificationRemote")
                        ? "-XX:+UnlockDiagnosticVMOptions " : "";
                return unlock + "-XX:" + (wanted.equals("true") ? '+' : '-') + flag;
            }
            return (flag.equals("hashCode") ? "-XX:+UnlockExperimentalVMOptions " : "") + "-XX:"
                    + flag + '=' + wanted;
        }
    }

    private static final String ANY = "any";
    private static final int NEWEST = Integer.MAX_VALUE;

    /** The options. The two numbers are the first and the last JDK that have the option. */
    private static final Option[] OPTIONS = {
        new Option("hashCode", "3", "2", 8, NEWEST,
                "hash codes of objects are random numbers that depend on when threads are made"),
        new Option("ActiveProcessorCount", "1", ANY, 8, NEWEST,
                "thread pools, spinning and the choice of the collector depend on the machine"),
        new Option("SoftRefLRUPolicyMSPerMB", "2147483647", "0", 8, NEWEST,
                "softly reachable objects are cleared by the clock"),
        new Option("UseDynamicNumberOfCompilerThreads", "false", null, 11, NEWEST,
                "the JVM makes Thread objects when it has much to compile"),
        new Option("BytecodeVerificationRemote", "false", null, 8, NEWEST,
                "the verifier loads classes in the order of addresses"),
        new Option("sun.io.useCanonCaches", "false", null, 8, 11,
                "canonical paths are forgotten after 30 seconds"),
    };

    private static final String COLLECTED =
            "not reproducible as far as references go: the garbage collector ran, and when it does "
            + "depends on timing; give the program "
            + "more memory (docs/ci/reproducible.md)";

    private Reproducibility() {}

    /** Adds a note for each missing option or other cause. Returns whether there was none. */
    static boolean check(ArrayList<String> notes) {
        int before = notes.size();
        VmFlags flags = VmFlags.open();
        int jdk = JavaVersion.FEATURE;
        for (int i = 0; i < OPTIONS.length; i++) {
            Option option = OPTIONS[i];
            if (jdk < option.since || jdk > option.until) {
                continue;
            }
            String value = option.property() ? System.getProperty(option.flag) : flags == null
                    ? null : flags.value(option.flag);
            // The JVM does not report a flag that is locked, which then has its default.
            if (value == null || !option.satisfied(value)) {
                notes.add("not reproducible without " + option.spelled() + ": " + option.why);
            }
        }
        if (collected()) {
            notes.add(COLLECTED);
        }
        return notes.size() == before;
    }

    /**
     * Whether any garbage collector has run. Uses reflection, since the management classes are in
     * another module.
     */
    private static boolean collected() {
        try {
            Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
            Method count = Class.forName("java.lang.management.GarbageCollectorMXBean")
                    .getDeclaredMethod("getCollectionCount");
            List<?> collectors = (List<?>) factory.getDeclaredMethod("getGarbageCollectorMXBeans")
                    .invoke(null);
            for (int i = 0; i < collectors.size(); i++) {
                if (((Long) count.invoke(collectors.get(i))).longValue() > 0L) {
                    return true;
                }
            }
        } catch (Throwable e) {
            // This JVM has no management classes, so it is unknown.
        }
        return false;
    }
}
