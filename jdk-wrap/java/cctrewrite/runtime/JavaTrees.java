package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.HashMap;
import sun.misc.Unsafe;

/**
 * Writes the trees where there is no load-time library to do it.
 *
 * <p>In bypass. The code does not recurse, since trees can be as deep as stacks. It takes memory
 * for the methods and for one path with its siblings.
 */
final class JavaTrees extends TreeSections {
    private static final int NATIVE = 1;
    private static final int UNNAMED = 2;
    private static final int MARKER = 4;
    private static final int TYPE = 16;
    private static final int AT_SITE = 8;
    private static final int COLUMN = 32;
    private static final int SYNCHRONIZED = 64;

    private static final int SECTION = 1 << 20;

    private final Section section;
    private final HashMap<String, Integer> strings = new HashMap<String, Integer>();

    /** MID to the method's number, from 1. */
    private final LongMap numbers = new LongMap(1 << 12);

    /**
     * Maps a method's number and, in the lower 16 bits, the call site of its entry to one plus the
     * row's index in {@code METH}. Nodes name a row by that value.
     */
    private final LongMap methods = new LongMap(1 << 12);

    private final MethodRow[] methodRows;
    private final MergedContexts merged;
    private int unnamed;

    JavaTrees(long[] records, OutputStream out) {
        section = new Section(out);
        for (int i = 0; i < records.length; i++) {
            collect(records[i]);
        }
        // Only now are the reasons of all collected contexts known.
        merged = MergedContexts.of(records);
        methodRows = methodRows();
    }

    @Override
    MergedContexts merged() {
        return merged;
    }

    @Override
    int unnamed() {
        return unnamed;
    }

    @Override
    void write(TreeRow[] rows) throws IOException {
        for (int i = 0; i < rows.length; i++) {
            strings.put(rows[i].name, null);
        }
        writeStrings();
        writeMethods();
        writeTrees(rows);
        section.flush("DONE");
    }

    @Override
    void free() {
        numbers.free();
        methods.free();
    }

    // ---- collection -----------------------------------------------------------------------------

    /** Collects the methods of a tree. */
    private void collect(long record) {
        Unsafe u = CctMemory.U;
        long root = u.getLong(null, record + Layout.ROOT);
        long node = root;
        while (true) {
            long next = Tree.firstChild(node);
            if (next == 0L) {
                while (node != root && (next = Tree.nextSibling(node)) == 0L) {
                    node = Counters.parent(node);
                }
                if (node == root) {
                    break;
                }
            }
            node = next;
            collectNode(node);
        }
        if (MergedContexts.any(record)) {
            collectNode(u.getLong(null, record + Layout.MERGED));
        }
    }

    private void collectNode(long node) {
        long mid = CctMemory.U.getLong(null, node);
        if (numbers.get(mid) < 0L) {
            numbers.put(mid, numbers.size() + 1L);
        }
        methods.put(key(node), 1L);
    }

    /**
     * The key of the node's row in {@link #methods}; -1 if the method is new since the collection.
     */
    private long key(long node) {
        long number = numbers.get(CctMemory.U.getLong(null, node));
        return number < 0L ? -1L : number << 16 | Tree.site(node) >>> Layout.SITE_SHIFT;
    }

    private MethodRow[] methodRows() {
        long[] mids = numbers.keys();
        MethodName[] known = new MethodName[mids.length + 1];
        long[] ordered = new long[mids.length + 1];
        Names names = new Names(numbers);
        for (int i = 0; i < mids.length; i++) {
            int number = (int) numbers.get(mids[i]);
            ordered[number] = mids[i];
            if (mids[i] != Layout.MERGED_MID) {
                known[number] = names.of(mids[i]);
                unnamed += known[number] == null ? 1 : 0;
            }
        }
        names.free();
        long[] keys = methods.keys();
        MethodRow[] rows = new MethodRow[keys.length];
        for (int i = 0; i < keys.length; i++) {
            int number = (int) (keys[i] >>> 16);
            long mid = ordered[number];
            MethodRow row = new MethodRow(keys[i], mid);
            if (mid == Layout.MERGED_MID) {
                row.name(merged.name(), "", "", MARKER);
            } else if (known[number] != null) {
                MethodName name = known[number];
                row.name(name.className(), name.name(), name.descriptor(), flags(name));
            } else {
                row.name("?", Long.toHexString(mid), "", UNNAMED);
            }
            strings.put(row.className, null);
            strings.put(row.name, null);
            strings.put(row.descriptor, null);
            rows[i] = row;
        }
        return rows;
    }

    /** The method's flags in a profile (docs/reference/formats/profile.md). */
    static int flags(MethodName of) {
        int kind = of.isNative() ? NATIVE : of.isType() ? TYPE : of.isColumn() ? COLUMN : 0;
        return of.entersMonitor() ? kind | SYNCHRONIZED : kind;
    }

    // ---- sections -------------------------------------------------------------------------------

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

    private void writeMethods() throws IOException {
        MethodRow[] rows = methodRows;
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
            int site = row.site();
            section.varint(site == 0 ? row.flags : row.flags | AT_SITE);
            section.u8(row.mid);
            if (site != 0) {
                section.varint(site - 1);
                // The source line is not known here.
                section.varint(0L);
            }
            methods.put(row.key, i + 1L);
        }
        section.flush("METH");
    }

    private void writeTrees(TreeRow[] rows) throws IOException {
        NodeWriter nodes = new NodeWriter();
        for (int i = 0; i < rows.length; i++) {
            section.varint(strings.get(rows[i].name).intValue());
            section.varint(rows[i].threads);
            section.varint(rows[i].flags);
            section.flush("THRD");
            nodes.write(rows[i].record);
        }
    }

    /** Writes a tree in preorder with the children of each node sorted by method. */
    private final class NodeWriter {
        /** The nodes to write; the next one is last. */
        private long[] stack = new long[256];
        private int depth;

        /**
         * The children of one node: the method number and, in the lower bits, the index in
         * {@link #children}.
         */
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
                for (long child = Tree.firstChild(node); child != 0L;
                        child = Tree.nextSibling(child)) {
                    add(child);
                }
                long method = 0L;
                if (node == root) {
                    if (MergedContexts.any(record)) {
                        add(u.getLong(null, record + Layout.MERGED));
                    }
                } else {
                    method = methods.get(key(node));
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
            long method = methods.get(key(child));
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

        /** Insertion sort for few children, which is the usual case. */
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

    // ---- rows -----------------------------------------------------------------------------------

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
        final long key;
        final long mid;
        String className;
        String name;
        String descriptor;
        int flags;
        int classNumber;
        int nameNumber;
        int descriptorNumber;

        MethodRow(long key, long mid) {
            this.key = key;
            this.mid = mid;
        }

        /** The bytecode index of the call plus one; 0 for no call site. */
        int site() {
            return (int) key & 0xFFFF;
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
            if (order == 0) {
                order = site() - other.site();
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
}
