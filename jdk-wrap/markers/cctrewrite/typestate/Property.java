package cctrewrite.typestate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * A property: its automaton, as {@code cctrewrite typestate tables} writes it, and its counters.
 */
final class Property {
    static final String HEAD = "cctrewrite typestate 1";
    static final int START = 0;

    final String name;
    final String level;
    final String message;
    final String expression;
    final boolean checksDeath;
    final boolean checksExit;
    /** The state of objects that have violated it; -1 if there is none. */
    final int sink;
    /** The state after which nothing is known; -1 if there is none. */
    int unknown = -1;
    boolean isPair;
    /** The classes of objects, of pairs of the children; and those of parents. */
    Types objectTypes = Types.ALL;
    Types parentTypes = Types.ALL;
    String[] events = {};
    /** The next state by state and event. */
    int[][] next = {};
    /** By state: the events that change it, as bits. */
    long[] outgoing = {};
    boolean[] accepting = {};
    /** By state: the events of a shortest path to it. */
    String[] states = {};

    final LongAdder heard = new LongAdder();
    /** Events that changed nothing and were ignored at once. */
    final LongAdder passed = new LongAdder();
    final AtomicLong followed = new AtomicLong();
    final LongAdder unsampled = new LongAdder();
    /** Objects of which nothing is known any more. */
    final LongAdder lost = new LongAdder();

    private Property(String[] fields) {
        name = fields[1];
        level = fields[2];
        int ends = Integer.parseInt(fields[3]);
        checksDeath = (ends & 1) != 0;
        checksExit = (ends & 2) != 0;
        sink = fields[4].equals("-") ? -1 : Integer.parseInt(fields[4]);
        message = fields[5];
        expression = fields[6];
    }

    int event(String name) {
        return Arrays.asList(events).indexOf(name);
    }

    /** Whether an object may end in this state. */
    boolean isEnd(int state) {
        return accepting[state] || state == sink;
    }

    boolean leadsElsewhere(int state, int event) {
        return (outgoing[state] >>> event & 1) != 0;
    }

    /** Whether there is a state other than the sink in which the event changes nothing. */
    boolean isIgnoredSomewhere(int event) {
        for (int state = 0; state < states.length; state++) {
            if (state != sink && !leadsElsewhere(state, event)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a property from another file has the same automaton. */
    boolean isLike(Property other) {
        return expression.equals(other.expression) && Arrays.equals(events, other.events)
                && isPair == other.isPair
                && objectTypes.equals(other.objectTypes) && parentTypes.equals(other.parentTypes)
                && checksDeath == other.checksDeath && checksExit == other.checksExit;
    }

    /** Reads all properties of a file. */
    static List<Property> read(List<String> lines) {
        List<Property> properties = new ArrayList<>();
        if (lines.isEmpty() || !lines.get(0).equals(HEAD)) {
            throw new IllegalArgumentException("its first line is not '" + HEAD
                    + "': it must be what this version's 'cctrewrite typestate tables' wrote");
        }
        Property last = null;
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split("\t", -1);
            switch (fields[0]) {
                case "property":
                    last = new Property(fields);
                    properties.add(last);
                    break;
                case "objects":
                    last.isPair = fields.length > 2;
                    break;
                case "types":
                    last.types(fields[1], new Types(fields[2]));
                    break;
                case "unknown":
                    last.unknown = Integer.parseInt(fields[1]);
                    break;
                case "event":
                    last.events = Arrays.copyOf(last.events, last.events.length + 1);
                    last.events[last.events.length - 1] = fields[1];
                    break;
                case "state":
                    last.state(fields);
                    break;
                case "end":
                    return properties;
                default:
                    throw new IllegalArgumentException("'" + fields[0] + "' is no kind of line");
            }
        }
        throw new IllegalArgumentException("it has no end");
    }

    private void types(String whose, Types types) {
        if (whose.equals("parent")) {
            parentTypes = types;
        } else {
            objectTypes = types;
        }
    }

    private void state(String[] fields) {
        int at = states.length;
        states = Arrays.copyOf(states, at + 1);
        accepting = Arrays.copyOf(accepting, at + 1);
        outgoing = Arrays.copyOf(outgoing, at + 1);
        next = Arrays.copyOf(next, at + 1);
        accepting[at] = fields[1].equals("1");
        outgoing[at] = Long.parseUnsignedLong(fields[2], 16);
        String[] to = fields[3].split(" ");
        next[at] = new int[to.length];
        for (int i = 0; i < to.length; i++) {
            next[at][i] = Integer.parseInt(to[i]);
        }
        states[at] = fields[4];
    }
}
