package cctrewrite.runtime;

/**
 * Which JDK this is, where its class library shows it in no other way that costs as little. Not
 * before the system properties are set.
 */
public final class JavaVersion {
    /** 8 for JDK 8. */
    public static final int FEATURE = feature();

    /** Taken for a JDK that does not say. */
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
