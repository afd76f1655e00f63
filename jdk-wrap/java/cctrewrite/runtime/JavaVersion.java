package cctrewrite.runtime;

/**
 * The version of the JDK, where no cheaper test on the class library finds it. Do not use it before
 * the system properties are set.
 */
public final class JavaVersion {
    /** 8 for JDK 8. */
    public static final int FEATURE = feature();

    /** The version of a JDK whose version is unknown. */
    private static final int NEWEST = Integer.MAX_VALUE;

    private JavaVersion() {}

    private static int feature() {
        String version = Property.get("java.specification.version");
        try {
            return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
        } catch (RuntimeException e) {
            return NEWEST;
        }
    }
}
