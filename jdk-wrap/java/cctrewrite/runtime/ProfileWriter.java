package cctrewrite.runtime;

import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;

/**
 * Writes all trees as a profile (docs/reference/formats/profile.md), with its description first. In
 * bypass.
 */
final class ProfileWriter {
    private static final byte[] MAGIC = {(byte) 0x89, 'C', 'C', 'T', '\r', '\n', 0x1A, '\n'};

    // Versions of the format. Later ones add call sites, types, and columns.
    private static final byte[] VERSION = {0, 0, 0, 1};
    private static final byte[] VERSION_WITH_SITES = {0, 0, 0, 2};
    private static final byte[] VERSION_WITH_TYPES = {0, 0, 0, 4};
    private static final byte[] VERSION_WITH_COLUMNS = {0, 0, 0, 7};

    private final FileOutputStream out;
    private final Section section;
    private final ArrayList<String> notes = new ArrayList<String>();

    ProfileWriter(FileOutputStream out) {
        this.out = out;
        this.section = new Section(out);
    }

    void write() throws IOException {
        TreeRow[] rows = rows();
        Arrays.sort(rows);
        long[] records = new long[rows.length];
        for (int i = 0; i < rows.length; i++) {
            records[i] = rows[i].record;
        }
        Selection.notes(records, notes);
        TreeSections trees = TreeSections.of(records, out);
        try {
            notes(trees);
            out.write(MAGIC, 0, MAGIC.length);
            byte[] version = version();
            out.write(version, 0, version.length);
            writeMeta();
            writeNotes();
            trees.write(rows);
        } finally {
            trees.free();
        }
    }

    private static byte[] version() {
        if (Description.hasColumns()) {
            return VERSION_WITH_COLUMNS;
        }
        return Description.countsObjects() ? VERSION_WITH_TYPES
                : Description.distinguishesCallSites()
                ? VERSION_WITH_SITES : VERSION;
    }

    private TreeRow[] rows() {
        TreeEntry[] entries = Threads.snapshot();
        if (Regions.used()) {
            return Regions.rows(entries);
        }
        TreeRow[] rows = new TreeRow[entries.length];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new TreeRow(entries[i], i);
        }
        return rows;
    }

    private void notes(TreeSections trees) {
        if (trees.unnamed() > 0) {
            notes.add(trees.unnamed() + " methods have no name: no index and no class seen by the "
                    + "runtime accounts for their ids");
        }
        RawClasses.notes(notes);
        trees.merged().notes(notes);
        if (Description.countsObjects() && trees.merged().any()) {
            notes.add("objects that merged contexts made are not counted");
        }
        if (Description.hasColumns() && trees.merged().any()) {
            notes.add("columns of merged contexts are not counted");
        }
        if (CctRuntime.unattached() > 0) {
            notes.add("stack or Java heap was too short to begin recording: "
                    + CctRuntime.unattached() + " entries of new threads were not recorded");
        }
        if (Threads.failures() > 0L) {
            notes.add("memory for the trees ran out: " + Threads.failures()
                    + " entries of new threads were not recorded");
        }
    }

    private void writeMeta() throws IOException {
        Description description = Description.of(RawClasses.any(), true);
        notes.addAll(description.notes);
        for (int i = 0; i < Description.KEYS.length; i++) {
            String value = description.values[i];
            if (value != null) {
                section.string(Mutf8.utf8(Description.KEYS[i]));
                section.string(Mutf8.utf8(value));
            }
        }
        section.flush("META");
    }

    private void writeNotes() throws IOException {
        if (notes.isEmpty()) {
            return;
        }
        Collections.sort(notes);
        for (int i = 0; i < notes.size(); i++) {
            section.string(Mutf8.utf8(notes.get(i)));
        }
        section.flush("NOTE");
    }
}
