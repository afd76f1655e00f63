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

    /** An event. */
    abstract void happened(Binding binding, Marker marker);

    /** Whether an event need not be heard in a state; what is heard is counted. */
    final boolean passesBy(int state, int event) {
        if (adaptive && (state == Entry.ASIDE || !property.leadsElsewhere(state, event))) {
            property.passed.increment();
            return true;
        }
        property.heard.increment();
        return false;
    }

    /** Objects that were found dead since it was asked last. */
    abstract void sweep();

    /** What the program's end finds of those that live. */
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

    /** The next state, under the lock: a violation is told. Whether it is another. */
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
     * Not an anonymous class: compilers from JDK 18 on leave out that it has a monitor, which it
     * does not need.
     */
    static final class ById implements Comparator<Entry> {
        @Override
        public int compare(Entry one, Entry other) {
            return Long.compare(one.id, other.id);
        }
    }
}
