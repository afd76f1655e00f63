package dev.cctrewrite.maven;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.logging.Log;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.RepositorySystemSession;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.repository.RepositoryPolicy;
import org.eclipse.aether.resolution.ArtifactRequest;
import org.eclipse.aether.resolution.ArtifactResolutionException;

/**
 * Finds the command: where the user says, on the {@code PATH}, or as the artifact of this platform,
 * which Maven's own resolver fetches with the user's mirrors, proxies and checksums.
 */
final class CommandFinder {
    private static final String NAME = "cctrewrite";
    private static final String GROUP = "dev.cctrewrite";
    private static final String ARTIFACT = "cctrewrite-cli";

    private final RepositorySystem system;
    private final RepositorySystemSession session;
    private final List<RemoteRepository> repositories;
    /** The plugin's version, which is the artifact's. */
    private final String version;
    private final Log log;

    CommandFinder(RepositorySystem system, RepositorySystemSession session,
            List<RemoteRepository> repositories, String version, Log log) {
        this.system = system;
        this.session = session;
        this.repositories = repositories.stream().map(CommandFinder::strict)
            .collect(Collectors.toList());
        this.version = version;
        this.log = log;
    }

    /** Maven only warns of wrong checksums, but this file will be executed. */
    private static RemoteRepository strict(RemoteRepository repository) {
        return new RemoteRepository.Builder(repository)
            .setReleasePolicy(strict(repository.getPolicy(false)))
            .setSnapshotPolicy(strict(repository.getPolicy(true)))
            .build();
    }

    private static RepositoryPolicy strict(RepositoryPolicy policy) {
        return new RepositoryPolicy(policy.isEnabled(), policy.getUpdatePolicy(),
            RepositoryPolicy.CHECKSUM_POLICY_FAIL);
    }

    /**
     * Finds the command and checks its version.
     *
     * @param named the user's choice, or null
     * @param folder where a copy goes if the file of an artifact cannot be made executable
     */
    Command find(File named, File folder) throws MojoExecutionException {
        Command command = new Command(locate(named, folder));
        String found = command.version();
        String wanted = version.replaceFirst("-SNAPSHOT$", "");
        if (!found.equals(wanted)) {
            throw new MojoExecutionException(command.file() + " is cctrewrite " + found
                + ", but this is cctrewrite-maven-plugin " + version
                + ": use the plugin of the same version, or name a cctrewrite " + wanted
                + " by -Dcctrewrite.command=PATH");
        }
        log.debug("cctrewrite " + found + ": " + command.file());
        return command;
    }

    private File locate(File named, File folder) throws MojoExecutionException {
        if (named != null) {
            if (!named.isFile() || !named.canExecute()) {
                throw new MojoExecutionException(
                    "the parameter `command` (cctrewrite.command) names " + named
                    + ", which is no executable file");
            }
            return named;
        }
        String path = System.getenv("PATH");
        for (String entry : path == null ? new String[0] : path.split(File.pathSeparator)) {
            File file = new File(entry, NAME);
            if (!entry.isEmpty() && file.isFile() && file.canExecute()) {
                return file.getAbsoluteFile();
            }
        }
        return executable(resolve(), folder);
    }

    private File resolve() throws MojoExecutionException {
        String nowhere = "found no cctrewrite: the parameter `command` (cctrewrite.command) is not "
            + "set, no folder of the PATH has it, ";
        String platform = platform();
        if (platform == null) {
            throw new MojoExecutionException(nowhere + "and it does not run on "
                + System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        }
        Artifact artifact = new DefaultArtifact(GROUP, ARTIFACT, platform, "exe", version);
        try {
            ArtifactRequest request = new ArtifactRequest(artifact, repositories, null);
            return system.resolveArtifact(session, request).getArtifact().getFile();
        } catch (ArtifactResolutionException e) {
            throw new MojoExecutionException(nowhere + "and " + artifact
                + " cannot be resolved. Install cctrewrite, or name it by "
                + "-Dcctrewrite.command=PATH. " + e.getMessage(), e);
        }
    }

    /** The classifier of this platform; null if there is none. */
    private static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        boolean is64 = machine.equals("amd64") || machine.equals("x86_64");
        return system.equals("linux") && is64 ? "linux-x86_64" : null;
    }

    /** Files in a repository are not executable. */
    private static File executable(File file, File folder) throws MojoExecutionException {
        if (file.canExecute() || file.setExecutable(true, true)) {
            return file;
        }
        File copy = new File(folder, NAME);
        try {
            Files.createDirectories(folder.toPath());
            Files.copy(file.toPath(), copy.toPath(), StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new MojoExecutionException("cannot copy " + file + " to " + copy, e);
        }
        if (!copy.setExecutable(true, true)) {
            throw new MojoExecutionException(
                copy + " cannot be made executable: does the file system allow it (noexec)?");
        }
        return copy;
    }
}
