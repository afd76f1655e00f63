package cctrewrite.typestate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The classes of the objects that a property is about: those that are one of some types, or inherit
 * from one, and from none that is excluded.
 */
final class Types {
    /** All classes. */
    static final Types ALL = new Types("");

    private final String text;
    private final List<String> names = new ArrayList<>();
    private final List<String> excluded = new ArrayList<>();
    private final MatchByClass known = new MatchByClass();

    /** What the tables say: names, with spaces between them. */
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

    /** Whether an object's class is one of them; {@code null} is none. */
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

    /** By class, since it is asked at each event. */
    final class MatchByClass extends ClassValue<Boolean> {
        @Override
        protected Boolean computeValue(Class<?> type) {
            return find(type);
        }
    }
}
