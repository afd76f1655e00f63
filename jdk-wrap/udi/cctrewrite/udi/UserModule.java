package cctrewrite.udi;

/**
 * A user-defined instrumentation module: it transforms class files before cctrewrite rewrites them
 * (docs/research/udi.md).
 *
 * <p>The user packs it as a jar. The jar's manifest names the class that implements this interface,
 * {@code Cctrewrite-Module: com.acme.MyModule}. That class needs a public constructor without
 * parameters. Libraries that it uses are in the jar or in the manifest's {@code Class-Path}.
 * Classes of the jar in the package {@code cctrewrite.udi.runtime} go into the class library, so
 * that inserted code can call them.
 *
 * <p>A module runs in a JVM of its own, on one thread. It must not read standard input. Its
 * standard output goes to standard error. Its answer must depend only on the class, so that the
 * same inputs give the same outputs.
 */
public interface UserModule {
    /**
     * Transforms a class.
     *
     * @param name its name, with slashes
     * @param classFile its bytes
     * @return the new bytes; null or the old bytes to keep the class as it is
     * @throws Abort if the module cannot transform this class, which then stays as it is and is
     *     named in the report
     * @throws Exception if the module has failed; then nothing is written
     */
    byte[] transform(String name, byte[] classFile) throws Exception;
}
