package cctrewrite.markers;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** A new file that only its owner can read and write, whatever the umask. */
public final class PrivateFile {
    private PrivateFile() {}

    /**
     * Creates the file, and replaces an existing one of that name. Opens devices and pipes
     * directly.
     */
    public static OutputStream create(Path path) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            return Files.newOutputStream(path, StandardOpenOption.WRITE);
        }
        Files.deleteIfExists(path);
        Set<StandardOpenOption> options =
                EnumSet.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        try {
            return Channels.newOutputStream(Files.newByteChannel(path, options,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString("rw-------"))));
        } catch (UnsupportedOperationException e) {
            // A file system without owners and modes.
            return Files.newOutputStream(path, StandardOpenOption.WRITE,
                    StandardOpenOption.CREATE_NEW);
        }
    }
}
