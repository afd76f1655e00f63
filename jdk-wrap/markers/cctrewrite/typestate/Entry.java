package cctrewrite.typestate;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * The data of an object. It does not keep the object alive, and still identifies the object after
 * its death.
 */
final class Entry extends WeakReference<Object> {
    /** The state of objects that the analysis does not follow. */
    static final int ASIDE = -1;

    final int hash;
    final long id;
    final Class<?> type;
    /** The state. Written under {@link #lock}; read without it for the quick test. */
    volatile int state = Property.START;
    /**
     * Where and by which event the object reached its state; {@code null} and -1 at the beginning.
     */
    Site came;
    int cameBy = -1;
    /** The number of the object's events that were handled. */
    int heard;

    /** For children: the parent, and the neighbours in its list. */
    Entry parent;
    Entry before;
    Entry after;
    /** For parents: the first child in each state. */
    final Entry[] children;

    Entry(Object object, int hash, long id, int childStates, ReferenceQueue<Object> queue) {
        super(object, queue);
        this.hash = hash;
        this.id = id;
        this.type = object.getClass();
        children = childStates == 0 ? null : new Entry[childStates];
    }

    /** The lock: a parent and its children share one. */
    Object lock() {
        Entry parent = this.parent;
        return parent != null ? parent : this;
    }

    /**
     * Adds a child to the list of its state: it is new, or its state has changed. Under the lock.
     */
    void link(Entry child) {
        Entry first = children[child.state];
        child.before = null;
        child.after = first;
        if (first != null) {
            first.before = child;
        }
        children[child.state] = child;
    }

    /**
     * Removes a child from its list, before its state changes, or when it is dead. Under the lock.
     */
    void unlink(Entry child) {
        if (child.before != null) {
            child.before.after = child.after;
        } else if (child.state >= 0 && children[child.state] == child) {
            children[child.state] = child.after;
        }
        if (child.after != null) {
            child.after.before = child.before;
        }
        child.before = null;
        child.after = null;
    }
}
