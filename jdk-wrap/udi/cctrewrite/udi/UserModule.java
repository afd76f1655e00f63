package cctrewrite.udi;

/**
 * A user-defined instrumentation module: a transformation of class files, made before cctrewrite's
 * own (docs/research/udi.md).
 *
 * <p>It is packed as a jar whose manifest names the class that implements this interface,
 * {@code Cctrewrite-Module: com.acme.MyModule}; it needs a public constructor without parameters.
 * Libraries that it uses are in the jar or in the manifest's {@code Class-Path}. Classes of the jar
 * in the package {@code cctrewrite.udi.runtime} go into the class library: they are what inserted
 * code calls.
 *
 * <p>A module runs in a JVM of its own, on one thread. It must not read standard input; what it
 * prints goes to standard error. Its answer must depend on the class alone, so that the same inputs
 * give the same outputs.
 */
public interface UserModule {
    /**
     * What becomes of a class.
     *
     * @param name its name, with slashes
     * @param classFile its bytes
     * @return the new bytes; null, or the old ones, to leave it as it is
     * @throws Abort if the module cannot deal with this class, which then stays as it is, and is
     *     named in the report
     * @throws Exception if the module has failed; nothing is written then
     */
    byte[] transform(String name, byte[] classFile) throws Exception;
}
