package cctrewrite.typestate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The classes of a property's objects: the listed types and those that inherit from one, except
 * those that are or inherit from an excluded type.
 */
final class Types {
    /** All classes. */
    static final Types ALL = new Types("");

    private final String text;
    private final List<String> names = new ArrayList<>();
    private final List<String> excluded = new ArrayList<>();
    private final MatchByClass known = new MatchByClass();

    /** Reads a list as the tables have it: names with spaces between them. */
    Types(String text) {
        this.text = text;
        for (String name : text.split(" ")) {
            if (name.startsWith("!")) {
                excluded.add(name.substring(1));
            } else if (!name.isEmpty()) {
                names.add(name);
            }
        }
    }

    /** Whether an object's class is one of these classes; false for {@code null}. */
    boolean include(Object object) {
        return object != null && (names.isEmpty() || known.get(object.getClass()));
    }

    boolean find(Class<?> type) {
        Set<Class<?>> all = new HashSet<>();
        for (Class<?> at = type; at != null; at = at.getSuperclass()) {
            addAll(at, all);
        }
        boolean found = false;
        for (Class<?> at : all) {
            if (isOneOf(excluded, at.getName())) {
                return false;
            }
            found |= isOneOf(names, at.getName());
        }
        return found;
    }

    private static void addAll(Class<?> type, Set<Class<?>> all) {
        if (all.add(type)) {
            for (Class<?> above : type.getInterfaces()) {
                addAll(above, all);
            }
        }
    }

    private static boolean isOneOf(List<String> names, String type) {
        for (String name : names) {
            int last = name.length() - 1;
            boolean isIt = name.charAt(last) == '*'
                    ? type.startsWith(name.substring(0, last)) : type.equals(name);
            if (isIt) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Types && text.equals(((Types) other).text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    /** The result by class: each event needs it. */
    final class MatchByClass extends ClassValue<Boolean> {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return find(type);
        }
    }
}
