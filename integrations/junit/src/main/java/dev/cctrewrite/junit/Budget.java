package dev.cctrewrite.junit;

import cctrewrite.api.Counts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Compares counts with limits. */
final class Budget {
    /** How many methods a failure names. */
    private static final int SHOWN = 5;

    private Budget() {}

    /**
     * Fails if a limit is exceeded.
     *
     * @param classes the classes whose own work counts; empty for all
     */
    static void check(String test, Counts counts, String classes, long bytecodes, long calls) {
        if (bytecodes >= 0 && !counts.hasBytecodes()) {
            throw new AssertionError(test + " has a budget of bytecodes, but the JDK counts calls "
                + "only (--metrics calls)");
        }
        Pattern pattern = classes.isEmpty() ? null : Pattern.compile(regex(classes));
        List<Counts.Method> methods = new ArrayList<>();
        long sumOfBytecodes = 0;
        long sumOfCalls = 0;
        for (Counts.Method method : counts.methods()) {
            if (pattern == null || pattern.matcher(method.className()).matches()) {
                methods.add(method);
                sumOfBytecodes += method.bytecodes();
                sumOfCalls += method.calls();
            }
        }
        if (methods.isEmpty()) {
            throw new AssertionError(
                test + " executed nothing of " + (classes.isEmpty() ? "its method" : classes));
        }
        String of = classes.isEmpty() ? "" : " of " + classes;
        if (bytecodes >= 0 && sumOfBytecodes > bytecodes) {
            methods.sort(Comparator.comparingLong(Counts.Method::bytecodes).reversed());
            throw new AssertionError(
                message(test, "bytecodes" + of, sumOfBytecodes, bytecodes, methods));
        }
        if (calls >= 0 && sumOfCalls > calls) {
            methods.sort(Comparator.comparingLong(Counts.Method::calls).reversed());
            throw new AssertionError(message(test, "calls" + of, sumOfCalls, calls, methods));
        }
    }

    private static String message(
            String test, String what, long executed, long budget, List<Counts.Method> methods) {
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
            "%s executed %,d %s, %,d more than its budget of %,d. Most:", test, executed, what,
            executed - budget, budget));
        for (Counts.Method method : methods.subList(0, Math.min(SHOWN, methods.size()))) {
            text.append('\n').append(line(method));
        }
        return text.toString();
    }

    static String line(Counts.Method method) {
        return String.format(Locale.ROOT, "  %,15d bytecodes %,12d calls  %s.%s%s",
            method.bytecodes(), method.calls(), method.className(), method.name(),
            method.descriptor());
    }

    /** {@code *} is anything but a dot, {@code **} anything. */
    private static String regex(String glob) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            if (c != '*') {
                regex.append(Pattern.quote(String.valueOf(c)));
            } else if (i + 1 < glob.length() && glob.charAt(i + 1) == '*') {
                regex.append(".*");
                i++;
            } else {
                regex.append("[^.]*");
            }
        }
        return regex.toString();
    }
}
