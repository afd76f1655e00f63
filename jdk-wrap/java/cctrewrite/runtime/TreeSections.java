package cctrewrite.runtime;

import java.io.FileOutputStream;
import java.io.IOException;

/**
 * What of a profile comes behind its notes (docs/reference/formats/profile.md): names, methods, and
 * the trees. The trees may be alive: the methods that occur are collected when this is made, and
 * contexts of others, which come up afterwards, are left out. In bypass.
 */
abstract class TreeSections {
    /**
     * Looks through the trees with these records. Done by the load-time library where there is one,
     * since this mostly runs in the interpreter.
     */
    static TreeSections of(long[] records, FileOutputStream out) throws IOException {
        if (LoadTime.loaded() && LoadTime.ready() == null) {
            return new NativeTrees(records, out);
        }
        return new JavaTrees(records, out);
    }

    /** The contexts that were merged. */
    abstract MergedContexts merged();

    /** How many methods have no name. */
    abstract int unnamed();

    /** Writes all that is left of the file. */
    abstract void write(TreeRow[] rows) throws IOException;

    void free() {}
}
