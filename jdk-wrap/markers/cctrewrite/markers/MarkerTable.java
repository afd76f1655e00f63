package cctrewrite.markers;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * The markers of a class, and its guards. The guards are one bit for each marker, in fields of the
 * class; a bit is set while a client is to be notified. Most classes register and never use the
 * table again, and registration slows down the program's start. So the table parses its texts when
 * a client asks, and creates the setters of the guards when the guards change.
 */
final class MarkerTable {
    /** Name of the fields with the guards; the index of the word follows. */
    private static final String GUARD = "cct$markers";
    /** Name of the field in objects with the bits of markers that ignore the object. */
    private static final String SKIPPED = "cct$skipped";

    private static final ClassValue<MarkerTable[]> OF = new ClassValue<MarkerTable[]>() {
        @Override
        protected MarkerTable[] computeValue(Class<?> owner) {
            return new MarkerTable[1];
        }
    };

    final Class<?> owner;
    /**
     * The clients to notify at each marker; {@code null} for none. Changed under the lock of the
     * clients.
     */
    final Listeners[] listeners;
    private final MethodHandles.Lookup lookup;
    private final int first;
    private String[] rows;
    private MarkerDescriptor[] descriptors;

    /**
     * Whether the class has read its guards. This field and the next ones are under the lock of the
     * clients.
     */
    private boolean isOut;
    /** How often the guards have changed since then. */
    private long changes;
    /** Whether a thread is setting the guards. */
    private boolean isWriting;
    private MethodHandle[] guards;
    private MethodHandle skipped;
    private MethodHandle setSkipped;

    private MarkerTable(Class<?> owner, MethodHandles.Lookup lookup, String[] rows, int first) {
        this.owner = owner;
        this.lookup = lookup;
        this.rows = rows;
        this.first = first;
        listeners = new Listeners[rows.length];
    }

    /** The markers in the order of the class's attribute. */
    MarkerDescriptor[] descriptors() {
        synchronized (Clients.LOCK) {
            if (descriptors == null) {
                descriptors = parse();
                rows = null;
            }
            return descriptors;
        }
    }

    private MarkerDescriptor[] parse() {
        MarkerDescriptor[] descriptors = new MarkerDescriptor[rows.length];
        MethodDescriptor method = null;
        for (int i = 0; i < rows.length; i++) {
            MarkerDescriptor.Row row = MarkerDescriptor.Row.parse(rows[i]);
            if (method == null
                    || !method.name().equals(row.methodName)
                    || !method.descriptor().equals(row.methodDescriptor)) {
                method = new MethodDescriptor(owner, row.methodName, row.methodDescriptor);
            }
            descriptors[i] = new MarkerDescriptor(this, i, first + i, row, method);
            descriptors[i].enabled = Clients.isEnabled(row.token);
        }
        return descriptors;
    }

    private Field field(String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private MethodHandles.Lookup lookup() throws ReflectiveOperationException {
        return lookup != null ? lookup : Trusted.lookup();
    }

    private MethodHandle setter(String name) throws ReflectiveOperationException {
        MethodHandles.Lookup lookup = lookup();
        if (lookup == null) {
            return MethodHandles.publicLookup().unreflectSetter(field(name));
        }
        boolean ofObject = name.equals(SKIPPED);
        return ofObject ? lookup.findSetter(owner, name, int.class)
                : lookup.findStaticSetter(owner, name, int.class);
    }

    private MethodHandle getter(String name) throws ReflectiveOperationException {
        MethodHandles.Lookup lookup = lookup();
        return lookup == null
                ? MethodHandles.publicLookup().unreflectGetter(field(name))
                : lookup.findGetter(owner, name, int.class);
    }

    /** The table of a class that registers. Its thread causes no notifications meanwhile. */
    static MarkerTable of(Class<?> owner, MethodHandles.Lookup lookup, String[] rows) {
        MarkerTable table;
        synchronized (Clients.LOCK) {
            MarkerTable[] place = OF.get(owner);
            table = place[0];
            if (table == null) {
                table = new MarkerTable(owner, lookup, rows, Clients.numbers(rows.length));
                Clients.load();
                Clients.subscribe(table);
                // Store it last: if the program has left no stack for the code above, the class
                // registers again.
                place[0] = table;
            }
        }
        Clients.refresh();
        return table;
    }

    /** The guard of this class, for {@link #prepare}. */
    static int cct$markers0;

    /** Does once all that a registration and a switch do, so that their classes are loaded. */
    static void prepare() {
        String version = System.getProperty("java.specification.version", "");
        String row = "cctrewrite\1\1\1method\1prepare\1()V\0010\001-1\1";
        MethodHandles.Lookup lookup = version.startsWith("1.") ? null : MethodHandles.lookup();
        MarkerTable table = new MarkerTable(MarkerTable.class, lookup, new String[] {row}, 0);
        table.descriptors();
        cct$markers0 = table.handOut(0);
        table.update();
        table.settle();
        OF.get(Boot.class);
    }

    static MarkerTable ofInterface(Class<?> owner) {
        return OF.get(owner)[0];
    }

    /** The guards of a class that registers and sets them itself. */
    int handOut(int word) {
        synchronized (Clients.LOCK) {
            isOut = true;
            return bits(word);
        }
    }

    private int bits(int word) {
        int bits = 0;
        for (int i = 32 * word; i < Math.min(listeners.length, 32 * word + 32); i++) {
            bits |= listeners[i] != null ? 1 << i : 0;
        }
        return bits;
    }

    /**
     * The class has set its guards. If they have changed meanwhile, the class may have set old
     * values.
     */
    void settle() {
        synchronized (Clients.LOCK) {
            if (changes == 0) {
                return;
            }
        }
        update();
    }

    /**
     * Sets the guards by the present notifications. Not under the lock of the clients: a thread
     * that calls this may be initialising a class, and a thread that sets the class's field waits
     * for the end of the initialisation. For the same reason no thread waits for the one that is
     * setting the guards already: that thread sets them again.
     */
    void update() {
        synchronized (Clients.LOCK) {
            if (!isOut || owner.isInterface()) {
                return;
            }
            changes++;
            if (isWriting) {
                return;
            }
            isWriting = true;
        }
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        try {
            while (!write()) {}
        } catch (Throwable thrown) {
            synchronized (Clients.LOCK) {
                isWriting = false;
            }
            throw new InternalError(owner.getName() + ": its markers' guards", thrown);
        } finally {
            stack.next = before;
        }
    }

    /** Writes the guards. Returns whether nothing has changed meanwhile. */
    private boolean write() throws Throwable {
        int[] bits = new int[(listeners.length + 31) / 32];
        if (guards == null) {
            MethodHandle[] setters = new MethodHandle[bits.length];
            for (int i = 0; i < bits.length; i++) {
                setters[i] = setter(GUARD + i);
            }
            guards = setters;
        }
        long seen;
        synchronized (Clients.LOCK) {
            seen = changes;
            for (int i = 0; i < bits.length; i++) {
                bits[i] = bits(i);
            }
        }
        for (int i = 0; i < bits.length; i++) {
            guards[i].invoke(bits[i]);
        }
        synchronized (Clients.LOCK) {
            isWriting = changes != seen;
            return !isWriting;
        }
    }

    /** Sets whether a marker ignores an object, if its rule permits that for single objects. */
    synchronized void skip(Object object, int index, boolean skip) {
        MarkerStack stack = Stacks.current();
        int before = stack.silence();
        try {
            if (skipped == null) {
                setSkipped = setter(SKIPPED)
                        .asType(MethodType.methodType(void.class, Object.class, int.class));
                skipped = getter(SKIPPED).asType(MethodType.methodType(int.class, Object.class));
            }
            int bits = (int) skipped.invokeExact(object);
            setSkipped.invokeExact(object, skip ? bits | 1 << index : bits & ~(1 << index));
        } catch (Throwable thrown) {
            throw new InternalError(owner.getName() + ": its objects' guards", thrown);
        } finally {
            stack.next = before;
        }
    }

    /** The methods with markers. */
    List<MethodDescriptor> methods() {
        List<MethodDescriptor> methods = new ArrayList<>();
        for (MarkerDescriptor descriptor : descriptors()) {
            if (methods.isEmpty() || methods.get(methods.size() - 1) != descriptor.method()) {
                methods.add(descriptor.method());
            }
        }
        return methods;
    }
}
