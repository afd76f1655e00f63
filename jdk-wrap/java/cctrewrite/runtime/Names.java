package cctrewrite.runtime;

import cctrewrite.agent.MethodName;
import java.io.IOException;

/**
 * Finds the names of methods by their MIDs. The indexes list the methods of the outputs and of
 * classes rewritten at load time. For classes in no index, {@link Definitions} stores the methods
 * at their definition. In bypass.
 */
final class Names {
    private static final int NATIVE = 1;
    private static final int SYNCHRONIZED = 16;

    /** The names of all methods; null until an agent first asks for a name. */
    private static Names all;

    private final Output[] outputs = Outputs.known().all;

    /** The MIDs that the caller will ask for, which keeps the table small; null for all. */
    private final LongMap wanted;

    /**
     * Positions of the methods of {@link #defined}: the class's number in the upper half, the
     * method's in the lower half.
     */
    private final LongMap places;
    private KnownClass[] defined = new KnownClass[0];

    /** The classes rewritten at load time, as of the last update; null for none. */
    private Index loadTime;

    /** Reads the classes defined so far. Later changes to {@code wanted} have no effect on them. */
    Names(LongMap wanted) {
        this.wanted = wanted;
        places = new LongMap(1 << 8);
        addDefined();
    }

    void free() {
        places.free();
    }

    /** The method of any {@code mid}; null if no known class has it. */
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

    /** The method of a wanted {@code mid}; null if no known class has it. */
    MethodName of(long mid) {
        boolean asked = LoadTime.ready() == null && LoadTime.loaded();
        if (asked) {
            // The library holds the indexes of the class library, so they need not be read here.
            String[] parts = LoadTime.method(mid);
            if (parts != null) {
                String is = parts.length > 3 ? parts[3] : "";
                return new MethodName(parts[0], parts[1], parts[2], is.indexOf('n') >= 0,
                        is.indexOf('s') >= 0);
            }
        }
        for (int i = 0; i < outputs.length; i++) {
            MethodName name = asked && outputs[i].boot ? null : in(outputs[i].index(), mid);
            if (name != null) {
                return name;
            }
        }
        MethodName name = in(loadTime, mid);
        if (name != null) {
            return name;
        }
        long place = places.get(mid);
        return place < 0L ? null : defined((int) (place >>> 32), (int) place);
    }

    private static MethodName in(Index index, long mid) {
        if (index == null) {
            return null;
        }
        long place = index.findMethod(mid);
        if (place >= 0L) {
            int number = (int) (place >>> 32);
            Index.Methods methods = index.new Methods();
            methods.of(number);
            for (int k = (int) place; k >= 0; k--) {
                methods.next();
            }
            return name(index.className(number), index.string(methods.name),
                    index.string(methods.descriptor), methods.flags);
        }
        int foreign = index.findForeign(mid);
        if (foreign < 0) {
            return null;
        }
        // Callers count natives, Object's constructor, types, and columns, which have no class.
        String name = index.foreignName(foreign);
        String className = index.foreignClass(foreign);
        boolean isNative = !name.equals("<init>") && !name.equals("<new>")
                && className.length() > 0;
        return new MethodName(className, name, index.foreignDescriptor(foreign), isNative);
    }

    private static MethodName name(String className, String name, String descriptor, int flags) {
        return new MethodName(className, name, descriptor, (flags & NATIVE) != 0,
                (flags & SYNCHRONIZED) != 0);
    }

    private MethodName defined(int number, int method) {
        KnownClass.Methods methods = new KnownClass.Methods(defined[number]);
        for (int k = 0; k <= method; k++) {
            methods.next();
        }
        return name(Definitions.rewrittenName(number), methods.name(), methods.descriptor(),
                methods.flags);
    }

    /** Reads the classes defined since the last call. */
    private void addDefined() {
        if (LoadTime.loaded()) {
            try {
                loadTime = new Index(LoadTime.index());
            } catch (IOException e) {
                Settings.say("the index of classes rewritten at load time cannot be read: "
                        + e.getMessage());
            }
        }
        KnownClass[] seen = Definitions.rewritten();
        for (int c = defined.length; c < seen.length; c++) {
            KnownClass.Methods methods = new KnownClass.Methods(seen[c]);
            for (int k = 0; methods.next(); k++) {
                long mid = Mids.of(seen[c].hash, k, methods.slots, methods.onEntry);
                if (wanted == null || wanted.get(mid) >= 0L) {
                    places.put(mid, (long) c << 32 | k);
                }
            }
        }
        defined = seen;
    }
}
