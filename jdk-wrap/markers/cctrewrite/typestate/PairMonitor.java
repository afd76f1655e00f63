package cctrewrite.typestate;

import cctrewrite.markers.Marker;

/**
 * Follows objects that come from another, each with it: parametric slicing over (parent, child),
 * where each child has one parent. A parent has a state of its own, by its own events alone; a
 * child that comes from it begins there. A parent's event is one of all of its children; those in a
 * state that it does not change are not looked at.
 */
final class PairMonitor extends Monitor {
    private final StateTable parents;

    PairMonitor(Property property, Violations violations, Budget budget, boolean adaptive) {
        super(property, violations, budget, adaptive);
        parents = new StateTable(property, property.states.length);
    }

    private boolean isHeardOf(Entry parent, int event) {
        synchronized (parent) {
            if (property.leadsElsewhere(parent.state, event)) {
                return true;
            }
            for (int state = 0; state < parent.children.length; state++) {
                if (parent.children[state] != null && property.leadsElsewhere(state, event)) {
                    return true;
                }
            }
            return false;
        }
    }

    @Override
    boolean passes(Binding binding, Object object) {
        int event = binding.event;
        if (binding.hasParent()) {
            Entry parent = parents.get(object);
            return parent == null
                    ? !property.leadsElsewhere(Property.START, event) : !isHeardOf(parent, event);
        }
        Entry child = objects.get(object);
        return child == null || child.parent == null || child.state == Entry.ASIDE
                || !property.leadsElsewhere(child.state, event);
    }

    @Override
    void happened(Binding binding, Marker marker) {
        Object object = binding.hasObject() ? binding.object(marker) : null;
        Object parent = binding.hasParent() ? binding.parent(marker) : null;
        if (binding.hasObject() && binding.hasParent()) {
            if (object != null && parent != null) {
                property.heard.increment();
                created(binding, marker, object, parent);
            }
        } else if (parent != null) {
            ofParent(binding, marker, parent);
        } else if (object != null) {
            ofChild(binding, marker, object);
        }
    }

    private void created(Binding binding, Marker marker, Object object, Object from) {
        Entry parent = parents.make(from);
        Entry child = objects.get(object);
        boolean isNew = child == null;
        if (isNew) {
            child = objects.make(object);
            sweep();
        }
        Entry old = child.parent;
        if (old != null && old != parent) {
            // It came from another before: the last one counts.
            synchronized (old) {
                old.unlink(child);
                child.parent = null;
            }
        }
        synchronized (parent) {
            if (isNew && child.parent == null && !budget.follows(binding.allocation)) {
                child.state = Entry.ASIDE;
                property.unsampled.increment();
            }
            if (child.state == Entry.ASIDE) {
                return;
            }
            if (child.parent == null) {
                child.parent = parent;
                int state = parent.state;
                if (state == property.sink) {
                    // What the parent did alone allows no child any more.
                    child.came = parent.came;
                    child.cameBy = parent.cameBy;
                    child.state = Property.START;
                    child.heard++;
                    violations.event(property, child, parent, binding);
                    child.state = property.sink;
                    return;
                }
                child.state = state;
                child.came = parent.came;
                child.cameBy = parent.cameBy;
                parent.link(child);
            }
            move(child, parent, binding, marker);
        }
    }

    /** Under the parent's lock. */
    private void move(Entry child, Entry parent, Binding binding, Marker marker) {
        int state = child.state;
        if (step(child, binding, marker, parent)) {
            parent.unlink(child);
            child.state = property.next[state][binding.event];
            if (child.state != property.sink) {
                parent.link(child);
            }
        }
    }

    private void ofChild(Binding binding, Marker marker, Object object) {
        Entry child = objects.get(object);
        Entry parent = child == null ? null : child.parent;
        // Before it is known where it comes from nothing is asked of it.
        if (passesBy(parent == null ? Entry.ASIDE : child.state, binding.event) || parent == null) {
            return;
        }
        synchronized (parent) {
            if (child.parent == parent && child.state != Entry.ASIDE) {
                move(child, parent, binding, marker);
            }
        }
    }

    private void ofParent(Binding binding, Marker marker, Object object) {
        int event = binding.event;
        Entry parent = parents.get(object);
        if (parent == null) {
            if (passesBy(Property.START, event)
                    || !property.leadsElsewhere(Property.START, event)) {
                return;
            }
            parent = parents.make(object);
        } else if (!isHeardOf(parent, event)) {
            (adaptive ? property.passed : property.heard).increment();
            return;
        } else {
            property.heard.increment();
        }
        synchronized (parent) {
            // All that move, taken out before any is put in again: into a state that is still to
            // come.
            Entry moving = null;
            for (int state = 0; state < parent.children.length; state++) {
                if (!property.leadsElsewhere(state, event)) {
                    continue;
                }
                Entry child = parent.children[state];
                while (child != null) {
                    Entry next = child.after;
                    parent.unlink(child);
                    child.after = moving;
                    moving = child;
                    child = next;
                }
            }
            while (moving != null) {
                Entry child = moving;
                moving = child.after;
                child.after = null;
                int state = child.state;
                boolean isGone = child.get() == null;
                if (!isGone && step(child, binding, marker, parent)) {
                    child.state = property.next[state][event];
                }
                if (child.state != property.sink && !isGone) {
                    parent.link(child);
                }
            }
            if (property.leadsElsewhere(parent.state, event)) {
                parent.state = property.next[parent.state][event];
                parent.came = binding.site();
                parent.cameBy = event;
            }
        }
    }

    @Override
    void sweep() {
        for (Entry dead = objects.dead(); dead != null; dead = objects.dead()) {
            Entry parent = dead.parent;
            if (parent != null) {
                synchronized (parent) {
                    parent.unlink(dead);
                    if (property.checksDeath && isOpen(dead)) {
                        violations.end(property, dead, "death");
                    }
                }
            }
        }
        while (parents.dead() != null) {
            // Its children hold on to what they need of it.
        }
    }
}
