package cctrewrite.typestate;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;

/**
 * What is kept of an object: it does not keep the object alive, and says who it was when it is
 * gone.
 */
final class Entry extends WeakReference<Object> {
    /** The state of objects that are not followed. */
    static final int ASIDE = -1;

    final int hash;
    final long id;
    final Class<?> type;
    /** Written under the lock of {@link #lock}; read without it to pass by quickly. */
    volatile int state = Property.START;
    /** Where it came to its state, and by which event; {@code null} and -1 at the beginning. */
    Site came;
    int cameBy = -1;
    /** Events that were heard of it. */
    int heard;

    /** Of children: where they come from, and their neighbours there. */
    Entry parent;
    Entry before;
    Entry after;
    /** Of parents: by state the first of their children. */
    final Entry[] children;

    Entry(Object object, int hash, long id, int childStates, ReferenceQueue<Object> queue) {
        super(object, queue);
        this.hash = hash;
        this.id = id;
        this.type = object.getClass();
        children = childStates == 0 ? null : new Entry[childStates];
    }

    /** A parent and its children change together. */
    Object lock() {
        Entry parent = this.parent;
        return parent != null ? parent : this;
    }

    /** A parent has a child more, or the child is in another state. Under the lock. */
    void link(Entry child) {
        Entry first = children[child.state];
        child.before = null;
        child.after = first;
        if (first != null) {
            first.before = child;
        }
        children[child.state] = child;
    }

    /** Before a child's state changes, or when it is gone. Under the lock. */
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
