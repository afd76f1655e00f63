package cctrewrite.runtime;

import java.io.FileOutputStream;
import java.io.IOException;

/**
 * The part of a profile after its notes (docs/reference/formats/profile.md): names, methods, and
 * trees. The trees may still grow. The constructor collects the methods. The profile omits contexts
 * of methods that are called later. In bypass.
 */
abstract class TreeSections {
    /**
     * Collects from the trees with these records. The load-time library does so if there is one,
     * since this code mostly runs in the interpreter.
     */
    static TreeSections of(long[] records, FileOutputStream out) throws IOException {
        if (LoadTime.loaded() && LoadTime.ready() == null) {
            return new NativeTrees(records, out);
        }
        return new JavaTrees(records, out);
    }

    /** The merged contexts of these trees. */
    abstract MergedContexts merged();

    /** The number of methods without a name. */
    abstract int unnamed();

    /** Writes the rest of the file. */
    abstract void write(TreeRow[] rows) throws IOException;

    void free() {}
}
