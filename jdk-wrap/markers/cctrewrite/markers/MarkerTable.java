package cctrewrite.markers;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/**
 * The markers of a class, and its guards: one bit for each in fields of the class, on while
 * somebody is told. Most classes register and never hear of it again, and most of their time at the
 * start is the program's: so texts are taken apart when somebody asks, and ways to set the guards
 * are made when they change.
 */
final class MarkerTable {
    /** A marker's bit is in the field of this name and the number of the word. */
    private static final String GUARD = "cct$markers";
    /** Its bit in objects that are left out of it. */
    private static final String SKIPPED = "cct$skipped";

    private static final ClassValue<MarkerTable[]> OF = new ClassValue<MarkerTable[]>() {
        @Override
        protected MarkerTable[] computeValue(Class<?> owner) {
            return new MarkerTable[1];
        }
    };

    final Class<?> owner;
    /**
     * Who is told of each marker; {@code null} if nobody is. Changed under the lock of the clients.
     */
    final Told[] told;
    private final MethodHandles.Lookup lookup;
    private final int first;
    private String[] rows;
    private MarkerDescriptor[] descriptors;

    /**
     * All that follows: under the lock of the clients. Whether the class has asked for its guards.
     */
    private boolean isOut;
    /** How often they have changed since. */
    private long changes;
    /** Whether somebody is setting them. */
    private boolean isWriting;
    private MethodHandle[] guards;
    private MethodHandle skipped;
    private MethodHandle setSkipped;

    private MarkerTable(Class<?> owner, MethodHandles.Lookup lookup, String[] rows, int first) {
        this.owner = owner;
        this.lookup = lookup;
        this.rows = rows;
        this.first = first;
        told = new Told[rows.length];
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

    /** The table of a class that registers; its thread hears nothing meanwhile. */
    static MarkerTable of(Class<?> owner, MethodHandles.Lookup lookup, String[] rows) {
        MarkerTable table;
        synchronized (Clients.LOCK) {
            MarkerTable[] place = OF.get(owner);
            table = place[0];
            if (table == null) {
                table = new MarkerTable(owner, lookup, rows, Clients.numbers(rows.length));
                Clients.load();
                Clients.subscribe(table);
                // Last: if the program has left no stack for all of this, the class comes again.
                place[0] = table;
            }
        }
        Clients.refresh();
        return table;
    }

    /** For {@link #prepare}. */
    static int cct$markers0;

    /** Goes the way of a class that registers, and is switched, once. */
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
        for (int i = 32 * word; i < Math.min(told.length, 32 * word + 32); i++) {
            bits |= told[i] != null ? 1 << i : 0;
        }
        return bits;
    }

    /**
     * The class has set them. If they have changed meanwhile, what it set may be what they were.
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
     * Sets the guards by who is told. Not under the lock of the clients: a class may be in the
     * middle of its initialisation, by a thread that comes here, and who sets a field waits for the
     * end of that. For the same reason nobody waits for who is setting them already: it does so
     * again.
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

    /** Whether nothing has changed meanwhile. */
    private boolean write() throws Throwable {
        int[] bits = new int[(told.length + 31) / 32];
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

    /** Whether an object is told of, where that is asked of objects. */
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
