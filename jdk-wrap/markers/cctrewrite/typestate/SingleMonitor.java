package cctrewrite.typestate;

import cctrewrite.markers.Marker;
import cctrewrite.markers.MarkerDescriptor;
import cctrewrite.markers.Markers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/** Follows single objects. */
final class SingleMonitor extends Monitor {
    private static final Object[] GUARDS = new Object[64];

    static {
        for (int i = 0; i < GUARDS.length; i++) {
            GUARDS[i] = new Object();
        }
    }

    /** Markers that can ignore single objects. */
    private volatile Binding[] perObject = {};
    private final ClassValue<AtomicReference<BindingsOfClass>> perClass =
            new ClassValue<AtomicReference<BindingsOfClass>>() {
        @Override
        protected AtomicReference<BindingsOfClass> computeValue(Class<?> type) {
            return new AtomicReference<>();
        }
    };

    SingleMonitor(Property property, Violations violations, Budget budget, boolean adaptive) {
        super(property, violations, budget, adaptive);
    }

    /** Adds a marker that has a bit in each object. */
    synchronized void addPerObject(Binding binding) {
        List<Binding> all = new ArrayList<>(java.util.Arrays.asList(perObject));
        all.add(binding);
        perObject = all.toArray(new Binding[0]);
    }

    @Override
    boolean passes(Binding binding, Object object) {
        Entry entry = objects.get(object);
        int state = entry == null ? Property.START : entry.state;
        return state == Entry.ASIDE || !property.leadsElsewhere(state, binding.event);
    }

    @Override
    void happened(Binding binding, Marker marker) {
        Object object = binding.object(marker);
        if (object == null) {
            return;
        }
        int event = binding.event;
        Entry entry = objects.get(object);
        if (canIgnore(entry == null ? Property.START : entry.state, event)) {
            if (entry != null && binding.descriptor.isPerObject()) {
                synchronized (entry) {
                    guard(object, entry.state);
                }
            }
            return;
        }
        if (entry == null) {
            if (!property.leadsElsewhere(Property.START, event)) {
                return;
            }
            entry = objects.make(object);
            sweep();
        }
        synchronized (entry) {
            if (entry.heard == 0 && !budget.follows(binding.allocation)
                    || budget.isTooMuch(entry)) {
                if (entry.state != Entry.ASIDE) {
                    property.unsampled.increment();
                    entry.state = Entry.ASIDE;
                    guard(object, Entry.ASIDE);
                }
                return;
            }
            int state = entry.state;
            if (step(entry, binding, marker, null)) {
                entry.state = property.next[state][event];
                guard(object, entry.state);
            }
        }
    }

    /**
     * Sets the bits of an object by the events that matter in its state. Under the entry's lock, so
     * that the bits of the last state are written last.
     */
    private void guard(Object object, int state) {
        if (!adaptive || perObject.length == 0) {
            return;
        }
        Binding[] ours = of(object);
        if (ours.length == 0) {
            return;
        }
        // Several properties have bits in the same word.
        synchronized (GUARDS[System.identityHashCode(object) & GUARDS.length - 1]) {
            for (Binding binding : ours) {
                MarkerDescriptor descriptor = binding.descriptor;
                if (state != Entry.ASIDE && property.leadsElsewhere(state, binding.event)) {
                    Markers.attend(object, descriptor);
                } else {
                    Markers.ignore(object, descriptor);
                }
            }
        }
    }

    /** The markers that can ignore objects of a class. */
    private Binding[] of(Object object) {
        Binding[] all = perObject;
        AtomicReference<BindingsOfClass> place = perClass.get(object.getClass());
        BindingsOfClass known = place.get();
        if (known == null || known.all != all) {
            List<Binding> found = new ArrayList<>();
            for (Binding binding : all) {
                if (binding.descriptor.owner().isInstance(object)) {
                    found.add(binding);
                }
            }
            known = new BindingsOfClass(all, found.toArray(new Binding[0]));
            place.set(known);
        }
        return known.ours;
    }

    /** The result for a class, and the list of markers that it was computed from. */
    private static final class BindingsOfClass {
        final Binding[] all;
        final Binding[] ours;

        BindingsOfClass(Binding[] all, Binding[] ours) {
            this.all = all;
            this.ours = ours;
        }
    }

    @Override
    void sweep() {
        for (Entry dead = objects.dead(); dead != null; dead = objects.dead()) {
            if (property.checksDeath && isOpen(dead)) {
                violations.end(property, dead, "death");
            }
        }
    }
}
