package dev.cctrewrite.jmh;

import cctrewrite.api.Counts;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The counts of an iteration, divided by its operations. */
final class OperationCounts {
    private final double operations;
    private final Map<String, long[]> methods = new TreeMap<>();
    private long bytecodes;
    private long calls;
    private boolean hasBytecodes = true;
    private boolean isIncomplete;

    OperationCounts(long operations) {
        this.operations = operations;
    }

    void add(Counts counts) {
        bytecodes += counts.bytecodes();
        calls += counts.calls();
        hasBytecodes &= counts.hasBytecodes();
        isIncomplete |= counts.isIncomplete();
        for (Counts.Method method : counts.methods()) {
            String name = method.className() + '.' + method.name() + method.descriptor();
            long[] sums = methods.computeIfAbsent(name, key -> new long[2]);
            sums[0] += method.bytecodes();
            sums[1] += method.calls();
        }
    }

    boolean hasBytecodes() {
        return hasBytecodes;
    }

    double bytecodes() {
        return bytecodes / operations;
    }

    double calls() {
        return calls / operations;
    }

    /** The methods that executed most themselves, one a line. */
    String top(int most) {
        StringBuilder text = new StringBuilder();
        if (isIncomplete) {
            text.append("Incomplete: contexts were merged, so counts are missing. ")
                .append("Allow more of them (cctrewrite run --max-contexts).\n");
        }
        int column = hasBytecodes ? 0 : 1;
        List<Map.Entry<String, long[]>> rows = new ArrayList<>(methods.entrySet());
        rows.sort(Collections.reverseOrder(
            Comparator.comparingLong(row -> row.getValue()[column])));
        text.append(String.format(Locale.ROOT, "%18s %18s  method%n", "bytecodes/op", "calls/op"));
        for (Map.Entry<String, long[]> row : rows.subList(0, Math.min(most, rows.size()))) {
            text.append(String.format(Locale.ROOT, "%,18.3f %,18.3f  %s%n",
                row.getValue()[0] / operations, row.getValue()[1] / operations, row.getKey()));
        }
        if (rows.size() > most) {
            text.append("... ").append(rows.size() - most).append(" more\n");
        }
        return text.toString();
    }
}
