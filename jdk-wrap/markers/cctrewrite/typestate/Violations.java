package cctrewrite.typestate;

import cctrewrite.markers.CallingContexts;
import cctrewrite.markers.ContextNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The violations. Violations by the same events at the same locations are one, with the number of
 * objects.
 */
final class Violations {
    /** Maximum number of kinds of violations. */
    private static final int MOST = 10_000;
    /** Maximum number of frames of a context. */
    private static final int DEEPEST = 50;

    private final Map<Key, Violation> found = new LinkedHashMap<>();
    private long others;

    /** Adds an event that the entry's state does not allow. The entry still has that state. */
    void event(Property property, Entry entry, Entry parent, Binding binding) {
        Site site = binding.site();
        Key key = new Key(property, "event", entry, binding.event, site);
        synchronized (found) {
            if (again(key)) {
                return;
            }
            Violation first = new Violation(key, entry, parent);
            first.thread = Thread.currentThread().getName();
            StackTraceElement[] frames = CallingContexts.current();
            int from = binding.descriptor.place().equals("method") && frames.length > 1 ? 1 : 0;
            for (int i = from; i < Math.min(frames.length, DEEPEST); i++) {
                first.context.add(frames[i].toString());
            }
            if (frames.length > DEEPEST) {
                first.context.add("... " + (frames.length - DEEPEST) + " more");
            }
            first.node = CallingContexts.node();
            found.put(key, first);
        }
    }

    /** Adds an object that ended in a state where it must not. */
    void end(Property property, Entry entry, String kind) {
        Key key = new Key(property, kind, entry, -1, null);
        synchronized (found) {
            if (!again(key)) {
                found.put(key, new Violation(key, entry, entry.parent));
            }
        }
    }

    private boolean again(Key key) {
        Violation known = found.get(key);
        if (known != null) {
            known.count++;
            return true;
        }
        if (found.size() < MOST) {
            return false;
        }
        others++;
        return true;
    }

    void write(Json out) {
        synchronized (found) {
            for (Violation one : found.values()) {
                one.write(out);
            }
            if (others > 0) {
                out.line("note", others + " violations of further kinds are not listed: " + MOST
                        + " kinds are");
            }
        }
    }

    boolean isEmpty() {
        synchronized (found) {
            return found.isEmpty();
        }
    }

    private static final class Key {
        final Property property;
        final String kind;
        final int state;
        final int event;
        final Site came;
        final int cameBy;
        final Site site;

        Key(Property property, String kind, Entry entry, int event, Site site) {
            this.property = property;
            this.kind = kind;
            this.event = event;
            state = entry.state;
            came = entry.came;
            cameBy = entry.cameBy;
            this.site = site;
        }

        @Override
        public int hashCode() {
            return Objects.hash(property.name, kind, state, event, came, cameBy, site);
        }

        @Override
        public boolean equals(Object other) {
            Key key = (Key) other;
            return property == key.property && kind.equals(key.kind) && state == key.state
                    && event == key.event && cameBy == key.cameBy
                    && Objects.equals(came, key.came) && Objects.equals(site, key.site);
        }
    }

    private static final class Violation {
        final Key key;
        final ObjectLabel object;
        final ObjectLabel parent;
        final List<String> context = new ArrayList<>();
        String thread;
        /** The node in the exact tree, if there is one. */
        ContextNode node;
        long count = 1;

        Violation(Key key, Entry entry, Entry parent) {
            this.key = key;
            object = new ObjectLabel(entry);
            this.parent = parent == null ? null : new ObjectLabel(parent);
        }

        void write(Json out) {
            out.begin("violation");
            out.text("property", key.property.name);
            out.text("kind", key.kind);
            out.text("state", key.property.states[key.state]);
            if (key.cameBy >= 0) {
                out.text("after", key.property.events[key.cameBy]);
            }
            if (key.event >= 0) {
                out.text("event", key.property.events[key.event]);
            }
            out.number("count", count);
            object.write(out, "object");
            if (parent != null) {
                parent.write(out, "parent");
            }
            site(out, "first", key.came);
            site(out, "site", key.site);
            if (thread != null) {
                out.text("thread", thread);
            }
            out.texts("context", context);
            if (node != null) {
                out.text("node", node.toString());
                out.texts("path", node.methods());
            }
            out.end();
        }

        private static void site(Json out, String name, Site site) {
            if (site == null) {
                return;
            }
            out.object(name);
            out.text("class", site.owner);
            out.text("method", site.method);
            if (site.file != null) {
                out.text("file", site.file);
            }
            if (site.line > 0) {
                out.number("line", site.line);
            }
            out.close();
        }
    }

    private static final class ObjectLabel {
        final String type;
        final long id;
        final int hash;

        ObjectLabel(Entry entry) {
            type = entry.type.getName();
            id = entry.id;
            hash = entry.hash;
        }

        void write(Json out, String name) {
            out.object(name);
            out.text("class", type);
            out.number("id", id);
            out.text("hash", Integer.toHexString(hash));
            out.close();
        }
    }
}
