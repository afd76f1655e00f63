package dev.cctrewrite.maven;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.apache.maven.plugin.MojoExecutionException;

/** The command {@code cctrewrite}. */
final class Command {
    private static final String NAME = "cctrewrite ";

    private final File file;

    Command(File file) {
        this.file = file;
    }

    /** What a call printed, and its exit code. */
    static final class Result {
        final int code;
        /** Standard output and error, in order. */
        final List<String> lines;

        Result(int code, List<String> lines) {
            this.code = code;
            this.lines = Collections.unmodifiableList(lines);
        }

        /** The lines that begin with a word. */
        List<String> startingWith(String word) {
            List<String> found = new ArrayList<>(lines);
            found.removeIf(line -> !line.startsWith(word));
            return found;
        }

        /** The last lines, for messages. */
        String end() {
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 10), lines.size()));
        }
    }

    File file() {
        return file;
    }

    /**
     * Runs the command, and hands each line that it prints to a consumer.
     *
     * @param folder the working folder
     */
    Result run(File folder, List<String> arguments, Consumer<String> eachLine)
            throws MojoExecutionException {
        List<String> all = new ArrayList<>();
        all.add(file.getPath());
        all.addAll(arguments);
        List<String> lines = new ArrayList<>();
        Process process = null;
        try {
            process = new ProcessBuilder(all).directory(folder).redirectErrorStream(true).start();
            process.getOutputStream().close();
            try (BufferedReader reader = new BufferedReader(
                    new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                String line;
                while ((line = reader.readLine()) != null) {
                    lines.add(line);
                    eachLine.accept(line);
                }
            }
            return new Result(process.waitFor(), lines);
        } catch (IOException e) {
            throw new MojoExecutionException("cannot run " + file + ": " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted while " + file + " ran", e);
        } finally {
            // On every exit path: nothing of it outlives the build.
            if (process != null) {
                process.destroy();
            }
        }
    }

    /** Fails if a call fails: for calls whose exit code says nothing else. */
    Result runOrFail(File folder, List<String> arguments, Consumer<String> eachLine)
            throws MojoExecutionException {
        Result result = run(folder, arguments, eachLine);
        if (result.code != 0) {
            throw new MojoExecutionException("`cctrewrite " + arguments.get(0)
                + "` failed with exit code " + result.code + ":\n" + result.end());
        }
        return result;
    }

    /** Its version, such as {@code 0.1.0}. */
    String version() throws MojoExecutionException {
        Result result = run(new File("."), Collections.singletonList("--version"), line -> {});
        String first = result.lines.isEmpty() ? "" : result.lines.get(0);
        if (result.code != 0 || !first.startsWith(NAME)) {
            throw new MojoExecutionException(file + " is not cctrewrite: `--version` printed \""
                + first + "\", exit code " + result.code);
        }
        return first.substring(NAME.length()).trim();
    }
}
