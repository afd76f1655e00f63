package cctrewrite.typestate;

import cctrewrite.markers.Marker;
import java.util.Arrays;
import java.util.Comparator;

/** Follows the objects of one property. */
abstract class Monitor {
    final Property property;
    final Violations violations;
    final Budget budget;
    final boolean adaptive;
    final StateTable objects;

    Monitor(Property property, Violations violations, Budget budget, boolean adaptive) {
        this.property = property;
        this.violations = violations;
        this.budget = budget;
        this.adaptive = adaptive;
        objects = new StateTable(property, 0);
    }

    /** Whether an event of an object changes nothing. */
    abstract boolean passes(Binding binding, Object object);

    /** Handles an event. */
    abstract void happened(Binding binding, Marker marker);

    /**
     * Whether the analysis can ignore an event in a state. Counts the events that it handles and
     * those that it ignores.
     */
    final boolean canIgnore(int state, int event) {
        if (adaptive && (state == Entry.ASIDE || !property.leadsElsewhere(state, event))) {
            property.passed.increment();
            return true;
        }
        property.heard.increment();
        return false;
    }

    /** Handles the objects that have died since the last call. */
    abstract void sweep();

    /** Checks the living objects at the program's end. */
    void end() {
        sweep();
        Entry[] all = objects.all();
        Arrays.sort(all, new ById());
        for (Entry entry : all) {
            synchronized (entry.lock()) {
                if (property.checksExit && isOpen(entry)) {
                    violations.end(property, entry, "exit");
                }
            }
        }
    }

    final boolean isOpen(Entry entry) {
        return entry.state != Entry.ASIDE && !property.isEnd(entry.state);
    }

    /**
     * Takes a step to the next state, under the lock, and reports a violation. Returns whether the
     * state changes.
     */
    final boolean step(Entry entry, Binding binding, Marker marker, Entry parent) {
        int state = entry.state;
        if (state == Entry.ASIDE || state == property.sink) {
            return false;
        }
        entry.heard++;
        int to = property.next[state][binding.event];
        if (to == state) {
            return false;
        }
        if (to == property.sink) {
            violations.event(property, entry, parent, binding);
        } else if (to == property.unknown) {
            property.lost.increment();
        }
        entry.came = binding.site();
        entry.cameBy = binding.event;
        return true;
    }

    /**
     * A named class, since compilers from JDK 18 on do not give an anonymous class a reference to
     * its monitor if it does not use it. The class files would then depend on the compiler.
     */
    static final class ById implements Comparator<Entry> {
        @Override
        public int compare(Entry one, Entry other) {
            return Long.compare(one.id, other.id);
        }
    }
}
