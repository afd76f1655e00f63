package cctrewrite.runtime;

import cctrewrite.agent.MethodName;

/**
 * The names behind MIDs. MIDs follow from class hashes, so every class that could have been entered is gone through once: those of the outputs'
 * indexes and those remembered at their definition. In bypass.
 */
public final class Names {
    private static final int NATIVE = 1;

    // Where a name is: source (16 bits), class or foreign method (27), method (20). Sources are the outputs, in their order.
    private static final int DEFINED = 0xFFFF;
    private static final int FOREIGN = 0xFFFFF;

    private static Names table;

    private final Output[] outputs = Outputs.known().all;
    private final LongMap places = new LongMap(1 << 18);
    private KnownClass[] defined = new KnownClass[0];

    private Names() {
        for (int i = 0; i < outputs.length; i++) {
            Index index = outputs[i].index();
            if (index != null) {
                add(i, index);
            }
        }
    }

    /** The method behind {@code mid}; null when no known class has it. */
    public static synchronized MethodName of(long mid) {
        if (table == null) {
            table = new Names();
        }
        long place = table.places.get(mid);
        if (place < 0L) {
            table.addDefined();
            place = table.places.get(mid);
        }
        return place < 0L ? null : table.at(place);
    }

    private void add(int source, Index index) {
        Index.Methods methods = index.new Methods();
        for (int c = 0; c < index.classes; c++) {
            long hash = index.hash(c);
            methods.of(c);
            for (int k = 0; methods.next(); k++) {
                places.put(Mids.of(hash, k, methods.slots), place(source, c, k));
            }
        }
        for (int i = 0; i < index.foreign; i++) {
            places.put(index.foreignMid(i), place(source, i, FOREIGN));
        }
    }

    /** Takes up what was defined since the last call. */
    private void addDefined() {
        KnownClass[] all = Definitions.rewritten();
        for (int c = defined.length; c < all.length; c++) {
            KnownClass.Methods methods = new KnownClass.Methods(all[c]);
            for (int k = 0; methods.next(); k++) {
                long mid = Mids.of(all[c].hash, k, methods.slots);
                if (places.get(mid) < 0L) {
                    places.put(mid, place(DEFINED, c, k));
                }
            }
        }
        defined = all;
    }

    private static long place(int source, int number, int method) {
        // The sign bit stays free: a negative place is none.
        return (long) source << 47 | (long) number << 20 | method;
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
        Index index = outputs[source].index();
        if (method == FOREIGN) {
            return new MethodName(index.foreignClass(number), index.foreignName(number), index.foreignDescriptor(number), false);
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
