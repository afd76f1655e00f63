package cctrewrite.typestate;

import cctrewrite.markers.Client;
import cctrewrite.markers.Marker;
import cctrewrite.markers.MarkerDescriptor;
import cctrewrite.markers.Markers;
import cctrewrite.markers.Options;
import cctrewrite.markers.PrivateFile;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The marker client that checks properties. {@code -Dcctrewrite.typestate=FILE} names a file that
 * {@code cctrewrite typestate tables} wrote.
 *
 * <ul>
 * <li>{@code cctrewrite.typestate.out}: the file for the report; default:
 * {@code cctrewrite.typestate} in the working directory.
 * <li>{@code cctrewrite.typestate.adaptive=no}: handles all events, also those that change nothing.
 * <li>{@code cctrewrite.typestate.budget=5}: the part of the time that the analysis may take, in
 * percent (default: 100, no limit).
 * </ul>
 */
public final class Typestate implements Client {
    private final List<Property> properties;
    private final Map<String, Monitor> monitors = new HashMap<>();
    private final Violations violations = new Violations();
    private final Budget budget;
    private final boolean adaptive;
    private final Path output;
    /** Bindings by the numbers of markers. */
    private volatile Binding[] bindings = new Binding[64];
    private int ticks;
    /** Events for which the program had left no stack. */
    private final AtomicLong lost = new AtomicLong();

    /** Reads the options of the command line. */
    public Typestate() {
        this(named(), !"no".equals(Options.get("typestate.adaptive")),
                Double.parseDouble(Options.get("typestate.budget", "100")) / 100,
                Paths.get(Options.place("typestate", "cctrewrite.typestate")).toAbsolutePath());
    }

    Typestate(List<Property> properties, boolean adaptive, double budget, Path output) {
        this.adaptive = adaptive;
        this.budget = new Budget(budget);
        this.output = output;
        this.properties = properties;
        for (Property property : properties) {
            monitors.put(property.name, property.isPair
                    ? new PairMonitor(property, violations, this.budget, adaptive)
                    : new SingleMonitor(property, violations, this.budget, adaptive));
        }
    }

    /** The properties of the given files. Outputs of several runs may share properties. */
    private static List<Property> named() {
        String files = Options.properties();
        if (files == null) {
            throw new IllegalArgumentException("-Dcctrewrite.typestate=FILE is missing: what "
                    + "'cctrewrite typestate tables' wrote");
        }
        Map<String, Property> all = new LinkedHashMap<>();
        for (String file : files.split(File.pathSeparator)) {
            List<Property> properties;
            try {
                properties =
                        Property.read(Files.readAllLines(Paths.get(file), StandardCharsets.UTF_8));
            } catch (IOException | RuntimeException problem) {
                throw new IllegalArgumentException("-Dcctrewrite.typestate: " + file
                        + " cannot be read: " + problem);
            }
            for (Property property : properties) {
                Property other = all.putIfAbsent(property.name, property);
                if (other != null && !other.isLike(property)) {
                    throw new IllegalArgumentException("-Dcctrewrite.typestate: property "
                            + property.name + " is another in " + file
                            + " than in a file before it");
                }
            }
        }
        return new ArrayList<>(all.values());
    }

    @Override
    public boolean subscribe(MarkerDescriptor descriptor) {
        Monitor monitor = monitors.get(descriptor.token());
        if (monitor == null) {
            return false;
        }
        Binding binding = new Binding(descriptor, monitor, budget);
        if (monitor instanceof SingleMonitor && descriptor.isPerObject()) {
            ((SingleMonitor) monitor).addPerObject(binding);
        }
        synchronized (this) {
            int number = descriptor.number();
            Binding[] all = bindings;
            if (number >= all.length) {
                all = Arrays.copyOf(all, Math.max(number + 1, 2 * all.length));
            }
            all[number] = binding;
            bindings = all;
        }
        return true;
    }

    @Override
    public boolean filters(MarkerDescriptor descriptor) {
        Binding binding = bindings[descriptor.number()];
        return adaptive && binding.isOfReceiver() && !descriptor.isPerObject()
                && binding.property.isIgnoredSomewhere(binding.event);
    }

    @Override
    public boolean isSimple(MarkerDescriptor descriptor) {
        return !bindings[descriptor.number()].onReturn;
    }

    @Override
    public boolean skips(MarkerDescriptor descriptor, Object receiver) {
        Binding binding = bindings[descriptor.number()];
        if (receiver == null) {
            return false;
        }
        if (!binding.concerns(receiver)) {
            return true;
        }
        if (!binding.monitor.passes(binding, receiver)) {
            return false;
        }
        binding.property.passed.increment();
        return true;
    }

    @Override
    public void markerEnter(Marker marker) {
        Binding binding = bindings[marker.descriptor().number()];
        if (!binding.onReturn && binding.happens(marker)) {
            handle(binding, marker);
        }
    }

    @Override
    public void markerExit(Marker marker) {
        Binding binding = bindings[marker.descriptor().number()];
        if (binding.onReturn && !marker.isByException() && binding.happens(marker)) {
            handle(binding, marker);
        }
    }

    private void handle(Binding binding, Marker marker) {
        try {
            measure(binding, marker);
        } catch (StackOverflowError overflow) {
            lost.incrementAndGet();
            throw overflow;
        }
    }

    private void measure(Binding binding, Marker marker) {
        // Not exact if several threads come at once; it need not be.
        if (!budget.isLimited() || (++ticks & Budget.EACH - 1) != 0) {
            binding.monitor.happened(binding, marker);
            return;
        }
        long begin = System.nanoTime();
        binding.monitor.happened(binding, marker);
        budget.measured(System.nanoTime() - begin);
    }

    /** Checks the living objects at the program's end, and writes the report. */
    @Override
    public void print(PrintStream out) {
        for (Property property : properties) {
            monitors.get(property.name).end();
        }
        Json json = new Json();
        json.raw("{\"typestate\":1}");
        violations.write(json);
        for (Property property : properties) {
            json.begin("property");
            json.text("name", property.name);
            json.text("level", property.level);
            json.text("message", property.message);
            json.text("expression", property.expression);
            json.number("events", property.heard.sum());
            json.number("passed", property.passed.sum());
            json.number("objects", property.followed.get());
            json.number("unsampled", property.unsampled.sum());
            json.number("unknown", property.lost.sum());
            json.end();
        }
        if (budget.hasBitten()) {
            json.line("note", "the budget was exceeded at times: of sites with many objects not "
                    + "all were followed");
        }
        if (lost.get() > 0) {
            json.line("note", lost + " events were lost, since the program had left no stack for "
                    + "them: what is said of their objects may be wrong");
        }
        for (String note : Markers.notes()) {
            json.line("note", note);
        }
        json.raw("{\"end\":true}");
        try (OutputStream file = PrivateFile.create(output)) {
            file.write(json.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException problem) {
            out.println("cctrewrite: typestate: " + output + " cannot be written: " + problem);
            return;
        }
        // If a process waits for the report, that process names its file.
        out.println("cctrewrite: typestate: "
                + (violations.isEmpty() ? "no violations" : "violations were found")
                + (Options.isAwaited() ? "" : "; the report is in " + output));
    }
}
