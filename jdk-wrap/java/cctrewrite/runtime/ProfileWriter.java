package cctrewrite.runtime;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.TreeMap;

/** Writes all trees as a profile (docs/formats/profile.md), beginning with how the numbers came about. In bypass. */
final class ProfileWriter {
    /** What no profile of this version of the scheme has, whatever the options (docs/scheme.md). */
    private static final String LIMITS = "Object.clone is not counted where it is called virtually";

    /** What is missing with {@code --intrinsics native}. */
    private static final String OF_NATIVE_INTRINSICS =
            "; intrinsics are not counted where reflection, method handles or classes that were not rewritten call them, nor is"
                    + " String.equals where it is called virtually";

    /** What is missing without the load-time library. */
    private static final String WITHOUT_REPLAY =
            "code that the JVM calls by itself hangs under the context last stored, not under its cause; "
                    + "Object.hashCode is not counted where it is called virtually; ";

    private static final byte[] MAGIC = {(byte) 0x89, 'C', 'C', 'T', '\r', '\n', 0x1A, '\n', 0, 0, 0, 1};

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
            writeMeta();
            writeNotes();
            trees.write(rows);
        } finally {
            trees.free();
        }
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
            notes.add(trees.unnamed() + " methods have no name: no index and no class seen by the runtime accounts for their ids");
        }
        RawClasses.notes(notes);
        Outputs.known().notes(notes);
        if (Agents.isNeverAsked()) {
            notes.add(Agents.NEVER_ASKED);
        }
        trees.merged().notes(notes);
        if (CctRuntime.unattached() > 0) {
            notes.add("stack or Java heap was too short to begin recording: " + CctRuntime.unattached() + " entries of new threads were not recorded");
        }
        if (Threads.failures() > 0L) {
            notes.add("memory for the trees ran out: " + Threads.failures() + " entries of new threads were not recorded");
        }
    }

    private void writeMeta() throws IOException {
        Output[] outputs = Outputs.known().all;
        boolean bodies = !value(outputs, "intrinsics").equals("native");
        boolean exact = Exactness.check(RawClasses.any(), bodies, notes);
        String reproducible = value(outputs, "reproducible");
        if (reproducible.equals("yes") && !Reproducibility.check(notes)) {
            reproducible = "partly";
        }
        TreeMap<String, String> meta = new TreeMap<String, String>();
        meta.put("agent", Settings.AGENT);
        meta.put("blocks", value(outputs, "blocks"));
        meta.put("exact", exact ? "yes" : "no");
        meta.put("intrinsics", value(outputs, "intrinsics"));
        meta.put("java.version", System.getProperty("java.version"));
        meta.put("java.vm.name", System.getProperty("java.vm.name"));
        meta.put("java.vm.version", System.getProperty("java.vm.version"));
        meta.put("limits", (LoadTime.loaded() ? "" : WITHOUT_REPLAY) + LIMITS + (bodies ? "" : OF_NATIVE_INTRINSICS));
        meta.put("main", mainClass());
        if (Settings.MAX_CONTEXTS != null) {
            meta.put("max-contexts", Settings.MAX_CONTEXTS);
        }
        meta.put("metrics", value(outputs, "metrics"));
        meta.put("provenance", provenance(outputs));
        meta.put("reproducible", reproducible);
        String selection = Selection.text();
        if (selection.length() > 0) {
            meta.put("selection", selection);
        }
        meta.put("tool", value(outputs, "tool"));
        String[] keys = meta.keySet().toArray(new String[0]);
        for (int i = 0; i < keys.length; i++) {
            String value = meta.get(keys[i]);
            section.string(Mutf8.utf8(keys[i]));
            section.string(Mutf8.utf8(value == null ? "" : value));
        }
        section.flush("META");
    }

    private static String value(Output[] outputs, String key) {
        String value = outputs.length == 0 ? null : outputs[0].value(key);
        return value == null ? "unknown" : value;
    }

    /** One line per output: its file's name (no path of the machine) and its {@code key=value} pairs. */
    private static String provenance(Output[] outputs) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < outputs.length; i++) {
            text.append(i == 0 ? "" : "\n").append(outputs[i].file.getName());
            String lines = outputs[i].provenance;
            for (int k = 0; k < lines.length(); k++) {
                char c = lines.charAt(k);
                if (k == 0) {
                    text.append(' ');
                }
                if (c != '\n') {
                    text.append(c);
                } else if (k + 1 < lines.length()) {
                    text.append(' ');
                }
            }
        }
        return text.toString();
    }

    /** The command line's main class, or the name of its jar. */
    private static String mainClass() {
        String command = System.getProperty("sun.java.command");
        if (command == null || command.length() == 0) {
            return "unknown";
        }
        int end = command.indexOf(' ');
        return new File(end < 0 ? command : command.substring(0, end)).getName();
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
