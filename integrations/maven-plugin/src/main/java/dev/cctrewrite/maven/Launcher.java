package dev.cctrewrite.maven;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * A stand-in for {@code bin/java}: a script that runs a JVM by {@code cctrewrite run}, which finds
 * or makes the profiled image and collects the profiles. It lies in a folder like that of a JDK:
 * Surefire wants a path that ends in {@code bin/java}.
 */
final class Launcher {
    private final Command command;
    private final File jdk;
    private final TestProfiles profiles;
    private final List<String> options;

    Launcher(Command command, File jdk, TestProfiles profiles, List<String> options) {
        this.command = command;
        this.jdk = jdk;
        this.profiles = profiles;
        this.options = options;
    }

    /** Writes it, and returns the path of {@code java}. */
    File write(File folder) throws IOException {
        Path home = new File(folder, "jdk").toPath();
        Path java = home.resolve("bin/java");
        Files.createDirectories(java.getParent());
        // Surefire reads the version there, else it would run the script to learn it.
        Path release = new File(jdk, "release").toPath();
        if (Files.isRegularFile(release)) {
            Files.copy(release, home.resolve("release"), StandardCopyOption.REPLACE_EXISTING);
        } else {
            Files.deleteIfExists(home.resolve("release"));
        }
        Files.write(java, script().getBytes(StandardCharsets.UTF_8));
        if (!java.toFile().setExecutable(true, true)) {
            throw new IOException(java + " cannot be made executable");
        }
        return java.toFile();
    }

    private String script() {
        StringBuilder text = new StringBuilder("#!/bin/sh\n"
            + "# Written by cctrewrite-maven-plugin: runs the JVMs of tests on a profiled JDK.\n");
        text.append("exec ").append(quoted(command.file().getPath())).append(" run --quiet --jdk ")
            .append(quoted(jdk.getPath()))
            // Several JVMs at the same time, and one after the other, have a profile each.
            .append(" -o ").append(quoted(profiles.parts().getPath()))
            .append("/$$-$(date +%s)").append(TestProfiles.ENDING);
        for (String option : options) {
            text.append(' ').append(quoted(option));
        }
        return text.append(" -- java \"$@\"\n").toString();
    }

    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }
}
