package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.TreeMap;
import sun.misc.Unsafe;

/**
 * Writes all trees as a profile (docs/formats/profile.md). The trees may be alive: first the methods that occur are collected, then each tree is
 * written; contexts of methods that occurred only in between are left out.
 *
 * <p>In bypass. No recursion, since trees can be as deep as stacks; memory for the methods and for one path with its siblings.
 */
final class ProfileWriter {
    /** Name of the contexts that were merged because memory ran out. */
    static final String MERGED = "[contexts merged: out of memory]";

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

    private static final int NATIVE = 1;
    private static final int UNNAMED = 2;
    private static final int MARKER = 4;

    private static final int ENDED = 1;
    private static final int DAEMON = 2;

    private static final int SECTION = 1 << 20;

    private final OutputStream out;
    private final Section section;
    private final TreeEntry[] trees = Threads.snapshot();
    private final ArrayList<String> notes = new ArrayList<String>();
    private final HashMap<String, Integer> strings = new HashMap<String, Integer>();

    /** MID to the method's place in {@code METH} plus one, which is how nodes name it. */
    private final LongMap methods = new LongMap(1 << 12);

    ProfileWriter(OutputStream out) {
        this.out = out;
        this.section = new Section(out);
    }

    void write() throws IOException {
        try {
            boolean merged = false;
            for (int i = 0; i < trees.length; i++) {
                merged |= collect(trees[i].record);
            }
            MethodRow[] methodRows = methodRows();
            TreeRow[] treeRows = treeRows();
            notes(merged);

            out.write(MAGIC, 0, MAGIC.length);
            writeMeta();
            writeNotes();
            writeStrings();
            writeMethods(methodRows);
            writeTrees(treeRows);
            section.flush("DONE");
        } finally {
            methods.free();
        }
    }

    // ---- what occurs -------------------------------------------------------------------------------------------------------------

    /** Collects a tree's MIDs; says whether contexts were merged there. */
    private boolean collect(long record) {
        Unsafe u = CctMemory.U;
        long root = u.getLong(null, record + Layout.ROOT);
        long node = root;
        while (true) {
            long next = u.getLong(null, node + Layout.FIRST_CHILD);
            if (next == 0L) {
                while (node != root && (next = u.getLong(null, node + Layout.NEXT_SIBLING)) == 0L) {
                    node = Counters.parent(node);
                }
                if (node == root) {
                    break;
                }
            }
            node = next;
            methods.put(u.getLong(null, node), 1L);
        }
        if (merged(record) == 0L) {
            return false;
        }
        methods.put(Layout.MERGED_MID, 1L);
        return true;
    }

    /** The node for merged contexts, when anything was merged. */
    private static long merged(long record) {
        long node = CctMemory.U.getLong(null, record + Layout.MERGED);
        return Counters.calls(node) != 0L ? node : 0L;
    }

    private MethodRow[] methodRows() {
        long[] mids = methods.keys();
        MethodRow[] rows = new MethodRow[mids.length];
        Names names = new Names(methods);
        int unnamed = 0;
        for (int i = 0; i < mids.length; i++) {
            MethodRow row = new MethodRow(mids[i]);
            MethodName known = mids[i] == Layout.MERGED_MID ? null : names.of(mids[i]);
            if (mids[i] == Layout.MERGED_MID) {
                row.name(MERGED, "", "", MARKER);
            } else if (known != null) {
                row.name(known.className(), known.name(), known.descriptor(), known.isNative() ? NATIVE : 0);
            } else {
                row.name("?", Long.toHexString(mids[i]), "", UNNAMED);
                unnamed++;
            }
            strings.put(row.className, null);
            strings.put(row.name, null);
            strings.put(row.descriptor, null);
            rows[i] = row;
        }
        names.free();
        if (unnamed > 0) {
            notes.add(unnamed + " methods have no name: no index and no class seen by the runtime accounts for their ids");
        }
        return rows;
    }

    private TreeRow[] treeRows() {
        TreeRow[] rows = new TreeRow[trees.length];
        for (int i = 0; i < trees.length; i++) {
            rows[i] = new TreeRow(trees[i], i);
            strings.put(rows[i].name, null);
        }
        return rows;
    }

    private void notes(boolean merged) {
        RawClasses.notes(notes);
        Outputs.known().notes(notes);
        if (merged) {
            notes.add("memory for the trees ran out: contexts were merged under " + MERGED);
        }
        if (CctRuntime.unattached() > 0) {
            notes.add("stack or Java heap was too short to begin recording: " + CctRuntime.unattached() + " entries of new threads were not recorded");
        }
        if (Threads.failures() > 0L) {
            notes.add("memory for the trees ran out: " + Threads.failures() + " entries of new threads were not recorded");
        }
    }

    // ---- sections ----------------------------------------------------------------------------------------------------------------

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
        meta.put("metrics", value(outputs, "metrics"));
        meta.put("provenance", provenance(outputs));
        meta.put("reproducible", reproducible);
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

    /** Sorts the strings by their bytes and numbers them. */
    private void writeStrings() throws IOException {
        String[] all = strings.keySet().toArray(new String[0]);
        Text[] texts = new Text[all.length];
        for (int i = 0; i < all.length; i++) {
            texts[i] = new Text(all[i]);
        }
        Arrays.sort(texts);
        int count = 0;
        for (int i = 0; i < texts.length; i++) {
            // Strings that differ in lone surrogates only are one string in UTF-8.
            if (i == 0 || texts[i].compareTo(texts[i - 1]) != 0) {
                count++;
            }
            strings.put(texts[i].text, count - 1);
        }
        section.varint(count);
        for (int i = 0; i < texts.length; i++) {
            if (i == 0 || texts[i].compareTo(texts[i - 1]) != 0) {
                section.string(texts[i].utf8);
            }
        }
        section.flush("STRS");
    }

    private void writeMethods(MethodRow[] rows) throws IOException {
        for (int i = 0; i < rows.length; i++) {
            rows[i].number(strings);
        }
        Arrays.sort(rows);
        section.varint(rows.length);
        for (int i = 0; i < rows.length; i++) {
            MethodRow row = rows[i];
            section.varint(row.classNumber);
            section.varint(row.nameNumber);
            section.varint(row.descriptorNumber);
            section.varint(row.flags);
            section.u8(row.mid);
            methods.put(row.mid, i + 1L);
        }
        section.flush("METH");
    }

    private void writeTrees(TreeRow[] rows) throws IOException {
        for (int i = 0; i < rows.length; i++) {
            rows[i].nameNumber = strings.get(rows[i].name).intValue();
        }
        Arrays.sort(rows);
        NodeWriter nodes = new NodeWriter();
        for (int i = 0; i < rows.length; i++) {
            TreeEntry entry = rows[i].entry;
            section.varint(rows[i].nameNumber);
            section.varint(entry.threads());
            section.varint((entry.thread() == null ? ENDED : 0) | (entry.isDaemon() ? DAEMON : 0));
            section.flush("THRD");
            nodes.write(entry.record);
        }
    }

    /** Writes a tree in preorder with the children of each node sorted by method. */
    private final class NodeWriter {
        /** Nodes still to be written; the next one is last. */
        private long[] stack = new long[256];
        private int depth;

        /** The children of one node: method number and, below, their place in {@link #children}. */
        private long[] keys = new long[256];
        private long[] children = new long[256];
        private int count;

        void write(long record) throws IOException {
            Unsafe u = CctMemory.U;
            long root = u.getLong(null, record + Layout.ROOT);
            push(root);
            while (depth > 0) {
                long node = stack[--depth];
                count = 0;
                for (long child = u.getLong(null, node + Layout.FIRST_CHILD); child != 0L; child = u.getLong(null, child + Layout.NEXT_SIBLING)) {
                    add(child);
                }
                long method = 0L;
                if (node == root) {
                    long merged = merged(record);
                    if (merged != 0L) {
                        add(merged);
                    }
                } else {
                    method = methods.get(u.getLong(null, node));
                }
                section.varint(method);
                section.varint(Counters.calls(node));
                section.varint(Counters.bytecodes(node));
                section.varint(count);
                sort();
                for (int i = count - 1; i >= 0; i--) {
                    push(children[(int) keys[i]]);
                }
                if (section.size() >= SECTION) {
                    section.flush("NODE");
                }
            }
            if (section.size() > 0) {
                section.flush("NODE");
            }
        }

        private void add(long child) {
            long method = methods.get(CctMemory.U.getLong(null, child));
            if (method <= 0L) {
                return;
            }
            if (count == keys.length) {
                keys = Arrays.copyOf(keys, 2 * count);
                children = Arrays.copyOf(children, 2 * count);
            }
            keys[count] = method << 32 | count;
            children[count++] = child;
        }

        /** Most nodes have few children. */
        private void sort() {
            if (count > 32) {
                Arrays.sort(keys, 0, count);
                return;
            }
            for (int i = 1; i < count; i++) {
                long key = keys[i];
                int k = i;
                for (; k > 0 && keys[k - 1] > key; k--) {
                    keys[k] = keys[k - 1];
                }
                keys[k] = key;
            }
        }

        private void push(long node) {
            if (depth == stack.length) {
                stack = Arrays.copyOf(stack, 2 * depth);
            }
            stack[depth++] = node;
        }
    }

    // ---- rows --------------------------------------------------------------------------------------------------------------------

    private static final class Text implements Comparable<Text> {
        final String text;
        final byte[] utf8;

        Text(String text) {
            this.text = text;
            this.utf8 = Mutf8.utf8(text);
        }

        @Override
        public int compareTo(Text other) {
            return Mutf8.compare(utf8, 0, utf8.length, other.utf8, 0, other.utf8.length);
        }
    }

    private static final class MethodRow implements Comparable<MethodRow> {
        final long mid;
        String className;
        String name;
        String descriptor;
        int flags;
        int classNumber;
        int nameNumber;
        int descriptorNumber;

        MethodRow(long mid) {
            this.mid = mid;
        }

        void name(String className, String name, String descriptor, int flags) {
            this.className = className;
            this.name = name;
            this.descriptor = descriptor;
            this.flags = flags;
        }

        void number(HashMap<String, Integer> strings) {
            classNumber = strings.get(className).intValue();
            nameNumber = strings.get(name).intValue();
            descriptorNumber = strings.get(descriptor).intValue();
        }

        @Override
        public int compareTo(MethodRow other) {
            int order = classNumber - other.classNumber;
            if (order == 0) {
                order = nameNumber - other.nameNumber;
            }
            if (order == 0) {
                order = descriptorNumber - other.descriptorNumber;
            }
            if (order != 0) {
                return order;
            }
            // MIDs are unsigned.
            long a = mid + Long.MIN_VALUE;
            long b = other.mid + Long.MIN_VALUE;
            return a < b ? -1 : a == b ? 0 : 1;
        }
    }

    private static final class TreeRow implements Comparable<TreeRow> {
        final TreeEntry entry;
        final int serial;
        final String name;
        int nameNumber;

        TreeRow(TreeEntry entry, int serial) {
            this.entry = entry;
            this.serial = serial;
            this.name = entry.displayName();
        }

        @Override
        public int compareTo(TreeRow other) {
            int order = nameNumber - other.nameNumber;
            return order != 0 ? order : serial - other.serial;
        }
    }
}
