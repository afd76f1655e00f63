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
 * <p>In bypass. No recursion, since trees can be as deep as stacks; memory for the methods and for one path with its siblings.
 */
final class JavaTrees extends TreeSections {
    private static final int NATIVE = 1;
    private static final int UNNAMED = 2;
    private static final int MARKER = 4;

    private static final int SECTION = 1 << 20;

    private final Section section;
    private final HashMap<String, Integer> strings = new HashMap<String, Integer>();

    /** MID to the method's place in {@code METH} plus one, which is how nodes name it. */
    private final LongMap methods = new LongMap(1 << 12);

    private final MethodRow[] methodRows;
    private final MergedContexts merged;
    private int unnamed;

    JavaTrees(long[] records, OutputStream out) {
        section = new Section(out);
        for (int i = 0; i < records.length; i++) {
            collect(records[i]);
        }
        // Afterwards: the reasons of what has been collected are known by then.
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
        methods.free();
    }

    // ---- what occurs -------------------------------------------------------------------------------------------------------------

    /** Collects a tree's MIDs. */
    private void collect(long record) {
        Unsafe u = CctMemory.U;
        long root = u.getLong(null, record + Layout.ROOT);
        long node = root;
        while (true) {
            long next = u.getLong(null, node + Layout.FIRST_CHILD);
            if (next == 0L) {
                while (node != root && (next = Tree.nextSibling(node)) == 0L) {
                    node = Counters.parent(node);
                }
                if (node == root) {
                    break;
                }
            }
            node = next;
            methods.put(u.getLong(null, node), 1L);
        }
        if (MergedContexts.any(record)) {
            methods.put(Layout.MERGED_MID, 1L);
        }
    }

    private MethodRow[] methodRows() {
        long[] mids = methods.keys();
        MethodRow[] rows = new MethodRow[mids.length];
        Names names = new Names(methods);
        for (int i = 0; i < mids.length; i++) {
            MethodRow row = new MethodRow(mids[i]);
            MethodName known = mids[i] == Layout.MERGED_MID ? null : names.of(mids[i]);
            if (mids[i] == Layout.MERGED_MID) {
                row.name(merged.name(), "", "", MARKER);
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
        return rows;
    }

    // ---- sections ----------------------------------------------------------------------------------------------------------------

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
            section.varint(row.flags);
            section.u8(row.mid);
            methods.put(row.mid, i + 1L);
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
                for (long child = u.getLong(null, node + Layout.FIRST_CHILD); child != 0L; child = Tree.nextSibling(child)) {
                    add(child);
                }
                long method = 0L;
                if (node == root) {
                    if (MergedContexts.any(record)) {
                        add(u.getLong(null, record + Layout.MERGED));
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
}
