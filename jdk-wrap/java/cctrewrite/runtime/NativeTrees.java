package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;

/** Writes the trees with the load-time library. In bypass. */
final class NativeTrees extends TreeSections {
    private static final int MARKER = 4;

    private final FileOutputStream out;

    /**
     * The result of the library's collection: its number, then the ids of methods whose names the
     * library does not know.
     */
    private final long[] collected;

    private final MergedContexts merged;

    /** Class, name and descriptor of each of those methods; null if they are unknown. */
    private final String[] names;
    private final long[] flags;
    private int unnamed;

    NativeTrees(long[] records, FileOutputStream out) throws IOException {
        this.out = out;
        collected = LoadTime.collect(records);
        if (collected == null) {
            throw new IOException("no memory");
        }
        // Only now are the reasons of all collected contexts known.
        merged = MergedContexts.of(records);
        int count = collected.length - 1;
        names = new String[3 * count];
        flags = new long[count];
        if (count > 0) {
            name(count);
        }
    }

    private void name(int count) {
        LongMap wanted = new LongMap(2 * count);
        for (int i = 0; i < count; i++) {
            if (collected[i + 1] != Layout.MERGED_MID) {
                wanted.put(collected[i + 1], 1L);
            }
        }
        Names all = new Names(wanted);
        for (int i = 0; i < count; i++) {
            boolean marker = collected[i + 1] == Layout.MERGED_MID;
            MethodName known = marker
                    ? new MethodName(merged.name(), "", "", false) : all.of(collected[i + 1]);
            if (known == null) {
                unnamed++;
            } else {
                names[3 * i] = known.className();
                names[3 * i + 1] = known.name();
                names[3 * i + 2] = known.descriptor();
                flags[i] = marker ? MARKER : JavaTrees.flags(known);
            }
        }
        all.free();
        wanted.free();
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
        String[] threads = new String[rows.length];
        long[] values = new long[3 * rows.length];
        for (int i = 0; i < rows.length; i++) {
            threads[i] = rows[i].name;
            values[3 * i] = rows[i].record;
            values[3 * i + 1] = rows[i].threads;
            values[3 * i + 2] = rows[i].flags;
        }
        int file = CctMemory.U.getInt(out.getFD(), Offsets.of(FileDescriptor.class, "fd"));
        String trouble = LoadTime.write(collected[0], file, names, flags, threads, values);
        if (trouble != null) {
            throw new IOException(trouble);
        }
    }
}
