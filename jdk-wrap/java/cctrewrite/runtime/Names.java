package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import java.io.IOException;

/**
 * The names behind MIDs. MIDs follow from class hashes, so every class that could have been entered is gone through once: those of the outputs'
 * indexes and those remembered at their definition. In bypass.
 */
final class Names {
    private static final int NATIVE = 1;

    // Where a name is: source (16 bits), class or foreign method (27), method (20). Sources are the outputs, in their order, and those below.
    private static final int DEFINED = 0xFFFF;
    private static final int LOAD_TIME = 0xFFFE;
    private static final int FOREIGN = 0xFFFFF;

    /** Of all methods; made when an agent first asks for a name. */
    private static Names all;

    private final Output[] outputs = Outputs.known().all;

    /** The MIDs that may be asked for, which keeps the table small; null for all. */
    private final LongMap wanted;

    private final LongMap places;
    private KnownClass[] defined = new KnownClass[0];

    /** Classes rewritten at load time, as of the last look; null for none. */
    private Index loadTime;

    /** Goes through the outputs and what has been defined so far. {@code wanted} is not kept up to date. */
    Names(LongMap wanted) {
        this.wanted = wanted;
        places = new LongMap(wanted == null ? 1 << 18 : wanted.size());
        for (int i = 0; i < outputs.length; i++) {
            Index index = outputs[i].index();
            if (index != null) {
                add(i, index);
            }
        }
        addDefined();
    }

    void free() {
        places.free();
    }

    /** The method behind {@code mid}, whatever it is; null when no known class has it. */
    static synchronized MethodName anyOf(long mid) {
        if (all == null) {
            all = new Names(null);
        }
        MethodName name = all.of(mid);
        if (name == null) {
            all.addDefined();
            name = all.of(mid);
        }
        return name;
    }

    /** The method behind a wanted {@code mid}; null when no known class has it. */
    MethodName of(long mid) {
        long place = places.get(mid);
        return place < 0L ? null : at(place);
    }

    private void add(int source, Index index) {
        Index.Methods methods = index.new Methods();
        for (int c = 0; c < index.classes; c++) {
            long hash = index.hash(c);
            methods.of(c);
            for (int k = 0; methods.next(); k++) {
                put(Mids.of(hash, k, methods.slots), source, c, k);
            }
        }
        for (int i = 0; i < index.foreign; i++) {
            put(index.foreignMid(i), source, i, FOREIGN);
        }
    }

    /** Takes up what was defined since the last call. */
    private void addDefined() {
        if (LoadTime.loaded()) {
            try {
                // Its numbers change when classes are added, so all places are entered again.
                loadTime = new Index(LoadTime.index());
                add(LOAD_TIME, loadTime);
            } catch (IOException e) {
                Settings.say("the index of classes rewritten at load time cannot be read: " + e.getMessage());
            }
        }
        KnownClass[] seen = Definitions.rewritten();
        for (int c = defined.length; c < seen.length; c++) {
            KnownClass.Methods methods = new KnownClass.Methods(seen[c]);
            for (int k = 0; methods.next(); k++) {
                put(Mids.of(seen[c].hash, k, methods.slots), DEFINED, c, k);
            }
        }
        defined = seen;
    }

    private void put(long mid, int source, int number, int method) {
        if (wanted == null || wanted.get(mid) >= 0L) {
            // The sign bit stays free: a negative place is none.
            places.put(mid, (long) source << 47 | (long) number << 20 | method);
        }
    }

    private MethodName at(long place) {
        int source = (int) (place >>> 47);
        int number = (int) (place >>> 20) & 0x7FFFFFF;
        int method = (int) place & 0xFFFFF;
        if (source == DEFINED) {
            KnownClass.Methods methods = new KnownClass.Methods(defined[number]);
            for (int k = 0; k <= method; k++) {
                methods.next();
            }
            return new MethodName(
                    Definitions.rewrittenName(number), methods.name(), methods.descriptor(), (methods.flags & NATIVE) != 0);
        }
        Index index = source == LOAD_TIME ? loadTime : outputs[source].index();
        if (method == FOREIGN) {
            // Counted by their callers are natives, and Object's constructor.
            String name = index.foreignName(number);
            boolean isNative = !name.equals("<init>");
            return new MethodName(index.foreignClass(number), name, index.foreignDescriptor(number), isNative);
        }
        Index.Methods methods = index.new Methods();
        methods.of(number);
        for (int k = 0; k <= method; k++) {
            methods.next();
        }
        return new MethodName(
                index.className(number), index.string(methods.name), index.string(methods.descriptor), (methods.flags & NATIVE) != 0);
    }
}
