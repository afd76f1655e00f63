package dev.cctrewrite.junit;

import cctrewrite.api.Counts;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Stored counts of tests: a text file with tabs, sorted, so that its differences can be reviewed.
 * A line that begins with a tab is a method of the test above it.
 */
final class Baseline {
    private static final String HEAD = "cctrewrite counts 1";
    private static final Object LOCK = new Object();
    /** How many methods a failure names. */
    private static final int SHOWN = 5;

    private final Path file;
    /** By test. */
    private final Map<String, Entry> entries = new TreeMap<>();

    private Baseline(Path file) {
        this.file = file;
    }

    /** The counts of a test. */
    private static final class Entry {
        final String java;
        final long calls;
        final long bytecodes;
        /** Own calls and bytecodes by method. */
        final Map<String, long[]> methods = new TreeMap<>();

        Entry(String java, long calls, long bytecodes) {
            this.java = java;
            this.calls = calls;
            this.bytecodes = bytecodes;
        }
    }

    /** Which invocation of a test with parameters this is: nothing for a plain test. */
    static String argumentsOf(ExtensionContext context, Method method) {
        return method.getParameterCount() == 0 && context.getUniqueId().indexOf("test-template") < 0
            ? "" : " " + context.getDisplayName().replaceAll("\\s+", " ");
    }

    /** Reads a file; one that does not exist has no entries. */
    static Baseline read(Path file) throws IOException {
        Baseline baseline = new Baseline(file);
        List<String> lines;
        synchronized (LOCK) {
            try {
                lines = Files.readAllLines(file, StandardCharsets.UTF_8);
            } catch (NoSuchFileException e) {
                return baseline;
            }
        }
        if (lines.isEmpty() || !lines.get(0).equals(HEAD)) {
            throw new AssertionError(file + " does not begin with \"" + HEAD + "\"");
        }
        Entry entry = null;
        for (int i = 1; i < lines.size(); i++) {
            String[] fields = lines.get(i).split("\t", -1);
            try {
                if (fields.length == 4 && fields[0].isEmpty() && entry != null) {
                    entry.methods.put(fields[3],
                        new long[] {Long.parseLong(fields[1]), Long.parseLong(fields[2])});
                } else if (fields.length == 4 && !fields[0].isEmpty()) {
                    entry = new Entry(fields[3], Long.parseLong(fields[1]), Long.parseLong(fields[2]));
                    baseline.entries.put(fields[0], entry);
                } else {
                    throw new NumberFormatException();
                }
            } catch (NumberFormatException e) {
                throw new AssertionError(file + ", line " + (i + 1) + ": not the format that this class writes");
            }
        }
        return baseline;
    }

    /** Stores the counts of a test. */
    void store(String test, Counts counts) throws IOException {
        synchronized (LOCK) {
            // Another test may have stored its counts meanwhile.
            entries.putAll(read(file).entries);
            entries.put(test, entry(counts));
            StringBuilder text = new StringBuilder(HEAD).append('\n');
            for (Map.Entry<String, Entry> named : entries.entrySet()) {
                Entry entry = named.getValue();
                text.append(named.getKey()).append('\t').append(entry.calls).append('\t').append(entry.bytecodes)
                    .append('\t').append(entry.java).append('\n');
                for (Map.Entry<String, long[]> method : entry.methods.entrySet()) {
                    text.append('\t').append(method.getValue()[0]).append('\t').append(method.getValue()[1])
                        .append('\t').append(method.getKey()).append('\n');
                }
            }
            Path folder = file.toAbsolutePath().getParent();
            Files.createDirectories(folder);
            Path whole = Files.createTempFile(folder, "counts", ".tmp");
            Files.write(whole, text.toString().getBytes(StandardCharsets.UTF_8));
            Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Fails if a test executed more than is stored. */
    void check(String test, Counts counts, double tolerance) {
        Entry stored = entries.get(test);
        if (stored == null) {
            throw new AssertionError(test + " is not in " + file + "; store it with -Dcctrewrite.update=true");
        }
        Entry now = entry(counts);
        if (!stored.java.equals(now.java)) {
            throw new AssertionError(test + " was stored on another JDK: " + stored.java + ", this one is " + now.java
                + "; use the same, or store it anew with -Dcctrewrite.update=true");
        }
        boolean byCalls = !counts.hasBytecodes();
        long before = byCalls ? stored.calls : stored.bytecodes;
        long after = byCalls ? now.calls : now.bytecodes;
        if (after - before <= before * tolerance / 100) {
            return;
        }
        int column = byCalls ? 0 : 1;
        List<String> grown = new ArrayList<>();
        Map<Long, List<String>> byGrowth = new TreeMap<>();
        for (Map.Entry<String, long[]> method : now.methods.entrySet()) {
            long[] old = stored.methods.get(method.getKey());
            long growth = method.getValue()[column] - (old == null ? 0 : old[column]);
            if (growth > 0) {
                byGrowth.computeIfAbsent(-growth, same -> new ArrayList<>()).add(String.format(Locale.ROOT,
                    "  %,+15d  %s%s", growth, method.getKey(), old == null ? " (new)" : ""));
            }
        }
        byGrowth.values().forEach(grown::addAll);
        throw new AssertionError(String.format(Locale.ROOT, "%s grew from %,d to %,d %s (%+.2f%%, limit %s%%). Most:\n%s",
            test, before, after, byCalls ? "calls" : "bytecodes", 100.0 * (after - before) / Math.max(1, before),
            tolerance, String.join("\n", grown.subList(0, Math.min(SHOWN, grown.size())))));
    }

    private static Entry entry(Counts counts) {
        Entry entry = new Entry(System.getProperty("java.runtime.version"), counts.calls(), counts.bytecodes());
        for (Counts.Method method : counts.methods()) {
            // Overloads of generated classes may share a name.
            long[] sum = entry.methods.computeIfAbsent(
                method.className() + "." + method.name() + method.descriptor(), name -> new long[2]);
            sum[0] += method.calls();
            sum[1] += method.bytecodes();
        }
        return entry;
    }
}
