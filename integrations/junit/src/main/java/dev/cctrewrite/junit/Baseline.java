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
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
    /** Of a test template, or of a class with parameters (JUnit 5.13). */
    private static final Pattern INVOCATION = Pattern.compile("-invocation:#(\\d+)");

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

    /**
     * The name of a test in the file: class and method, and the descriptor's parameters if it has
     * any. Repetitions, and invocations with different arguments, have their number at the end:
     * display names may contain hash codes.
     */
    static String nameOf(ExtensionContext context, Method method) {
        StringBuilder name = new StringBuilder(context.getRequiredTestClass().getName());
        name.append('.').append(method.getName());
        if (method.getParameterCount() > 0) {
            name.append(Descriptors.parametersOf(method));
        }
        Matcher invocation = INVOCATION.matcher(context.getUniqueId());
        while (invocation.find()) {
            name.append('[').append(invocation.group(1)).append(']');
        }
        return name.toString();
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
                    entry = new Entry(fields[3], Long.parseLong(fields[1]),
                        Long.parseLong(fields[2]));
                    baseline.entries.put(fields[0], entry);
                } else {
                    throw new NumberFormatException();
                }
            } catch (NumberFormatException e) {
                throw new AssertionError(file + ", line " + (i + 1)
                    + ": not a line of stored counts; store them anew with "
                    + "-Dcctrewrite.update=true");
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
                line(text, named.getKey(), entry.calls, entry.bytecodes, entry.java);
                for (Map.Entry<String, long[]> method : entry.methods.entrySet()) {
                    long[] numbers = method.getValue();
                    line(text, "", numbers[0], numbers[1], method.getKey());
                }
            }
            Path folder = file.toAbsolutePath().getParent();
            Files.createDirectories(folder);
            Path whole = Files.createTempFile(folder, "counts", ".tmp");
            Files.write(whole, text.toString().getBytes(StandardCharsets.UTF_8));
            Files.move(whole, file, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static void line(
            StringBuilder text, String test, long calls, long bytecodes, String last) {
        text.append(test).append('\t').append(calls).append('\t').append(bytecodes).append('\t')
            .append(last).append('\n');
    }

    /** Fails if a test executed more than is stored. */
    void check(String test, Counts counts, double tolerance) {
        Entry stored = entries.get(test);
        if (stored == null) {
            throw new AssertionError(
                test + " is not in " + file + "; store it with -Dcctrewrite.update=true");
        }
        Entry now = entry(counts);
        if (!stored.java.equals(now.java)) {
            throw new AssertionError(test + " was stored on another JDK: " + stored.java
                + ", this one is " + now.java
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
                String line = String.format(Locale.ROOT, "  %,+15d  %s%s", growth, method.getKey(),
                    old == null ? " (new)" : "");
                byGrowth.computeIfAbsent(-growth, same -> new ArrayList<>()).add(line);
            }
        }
        byGrowth.values().forEach(grown::addAll);
        double percent = 100.0 * (after - before) / Math.max(1, before);
        throw new AssertionError(String.format(Locale.ROOT,
            "%s grew from %,d to %,d %s (%+.2f%%, limit %s%%). Most:\n%s", test, before, after,
            byCalls ? "calls" : "bytecodes", percent, tolerance,
            String.join("\n", grown.subList(0, Math.min(SHOWN, grown.size())))));
    }

    private static Entry entry(Counts counts) {
        Entry entry = new Entry(System.getProperty("java.runtime.version"), counts.calls(),
            counts.bytecodes());
        for (Counts.Method method : counts.methods()) {
            // Overloads of generated classes may share a name.
            long[] sum = entry.methods.computeIfAbsent(
                method.className() + "." + method.name() + method.descriptor(),
                name -> new long[2]);
            sum[0] += method.calls();
            sum[1] += method.bytecodes();
        }
        return entry;
    }
}
