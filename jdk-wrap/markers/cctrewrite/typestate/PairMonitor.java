package cctrewrite.typestate;

import cctrewrite.markers.Marker;

/**
 * Follows objects together with the object that they come from: parametric slicing over (parent,
 * child), where each child has one parent. A parent has a state of its own, which only its own
 * events change. A new child begins in its parent's state. An event of a parent is an event of all
 * its children. The analysis does not visit children in a state that the event does not change.
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
            // The object had another parent before; the last one counts.
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
                    // The parent's own events allow no further child.
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

    /** Moves a child to its next state, under the parent's lock. */
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
        // Before its parent is known, the analysis checks nothing.
        if (canIgnore(parent == null ? Entry.ASIDE : child.state, binding.event) || parent == null) {
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
            if (canIgnore(Property.START, event)
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
            // First remove all children that move, then insert them: a child may move to a state
            // that the loop reaches later.
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
            // Children keep the parent's data that they need.
        }
    }
}
