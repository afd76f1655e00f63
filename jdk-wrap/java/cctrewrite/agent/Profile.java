package cctrewrite.agent;

import cctrewrite.runtime.Finish;
import cctrewrite.runtime.MergedTree;
import java.io.File;
import java.io.IOException;

/** Everything recorded in this JVM: one tree at a time, or all of them merged. */
public final class Profile {
    private final RootContext[] threads;
    private Context merged;

    /** For the runtime. */
    public Profile(RootContext[] threads) {
        this.threads = threads;
    }

    /** The roots of all trees, in the order of their creation. */
    public RootContext[] threads() {
        return threads.clone();
    }

    /**
     * The root of one tree with the sums of all trees at the time of the first call. It takes at
     * most as much memory as all trees together.
     *
     * @throws OutOfMemoryError if there is not even memory for its root
     */
    public synchronized Context merged() {
        if (merged == null) {
            merged = new Context(MergedTree.of(threads.length));
        }
        return merged;
    }

    /**
     * Where the user wants the profile: {@code -Dcctrewrite.out}, else {@code cctrewrite-<pid>.cct}
     * in the working directory.
     */
    public File file() {
        return Finish.file();
    }

    /**
     * Writes all trees in the project's format (docs/reference/formats/profile.md). The file
     * appears under its name only when it is complete.
     *
     * @throws IOException if the file cannot be written; then no file is left
     */
    public void write(File file) throws IOException {
        Finish.write(file);
    }
}
