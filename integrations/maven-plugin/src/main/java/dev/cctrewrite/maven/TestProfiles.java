package dev.cctrewrite.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.logging.Log;

/** The profiles of a project's tests: one of each JVM that Surefire and Failsafe start. */
final class TestProfiles {
    static final String ENDING = ".cct";

    private final File parts;
    private final File sum;

    TestProfiles(File folder) {
        parts = new File(folder, "jvms");
        sum = new File(folder, "tests" + ENDING);
    }

    /** The folder of the profiles of single JVMs. */
    File parts() {
        return parts;
    }

    /** Removes the profiles of earlier tests. */
    void clear() throws IOException {
        Files.deleteIfExists(sum.toPath());
        if (parts.exists()) {
            Files.walkFileTree(parts.toPath(), new SimpleFileVisitor<Path>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                        throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path folder, IOException failure)
                        throws IOException {
                    if (failure != null) {
                        throw failure;
                    }
                    Files.delete(folder);
                    return FileVisitResult.CONTINUE;
                }
            });
        }
        Files.createDirectories(parts.toPath());
    }

    /** Adds up the profiles of all JVMs; null if there are none. */
    File merged(Command command, Log log) throws MojoExecutionException {
        String[] names = parts.list((folder, name) -> name.endsWith(ENDING));
        if (names == null || names.length == 0) {
            return null;
        }
        Arrays.sort(names);
        if (names.length == 1) {
            try {
                Files.copy(new File(parts, names[0]).toPath(), sum.toPath(),
                    StandardCopyOption.REPLACE_EXISTING);
                return sum;
            } catch (IOException e) {
                throw new MojoExecutionException("cannot write " + sum + ": " + e, e);
            }
        }
        List<String> arguments = new ArrayList<>(Arrays.asList("merge", "-o", sum.getPath()));
        for (String name : names) {
            arguments.add(new File(parts, name).getPath());
        }
        Command.Result result = command.run(parts, arguments, line -> {});
        // 3: some of the input is missing, since a JVM was killed.
        if (result.code == 3) {
            log.warn(result.end());
        } else if (result.code != 0) {
            throw new MojoExecutionException(
                "the profiles in " + parts + " cannot be merged:\n" + result.end());
        }
        return sum;
    }
}
