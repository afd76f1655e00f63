package cctrewrite.markers;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;

/** The markers of a class, and its guards: one bit for each in fields of the class, on while somebody is told. */
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
    final MarkerDescriptor[] descriptors;
    private final MethodHandle[] guards;
    private final MethodHandle skipped;
    private final MethodHandle setSkipped;

    private MarkerTable(Class<?> owner, MethodHandles.Lookup lookup, String[] rows, int first) {
        this.owner = owner;
        descriptors = new MarkerDescriptor[rows.length];
        MethodDescriptor method = null;
        boolean perObject = false;
        for (int i = 0; i < rows.length; i++) {
            MarkerDescriptor.Row row = MarkerDescriptor.Row.parse(rows[i]);
            if (method == null
                    || !method.name().equals(row.methodName)
                    || !method.descriptor().equals(row.methodDescriptor)) {
                method = new MethodDescriptor(owner, row.methodName, row.methodDescriptor);
            }
            descriptors[i] = new MarkerDescriptor(this, i, first + i, row, method);
            perObject |= row.perObject;
        }
        guards = new MethodHandle[owner.isInterface() ? 0 : (rows.length + 31) / 32];
        try {
            for (int word = 0; word < guards.length; word++) {
                guards[word] = setter(lookup, GUARD + word);
            }
            MethodType get = MethodType.methodType(int.class, Object.class);
            MethodType set = MethodType.methodType(void.class, Object.class, int.class);
            skipped = perObject ? getter(lookup, SKIPPED).asType(get) : null;
            setSkipped = perObject ? setter(lookup, SKIPPED).asType(set) : null;
        } catch (ReflectiveOperationException missing) {
            throw new InternalError(owner.getName() + ": its markers' guards", missing);
        }
    }

    private Field field(String name) throws NoSuchFieldException {
        Field field = owner.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private MethodHandle setter(MethodHandles.Lookup lookup, String name) throws ReflectiveOperationException {
        if (lookup == null) {
            return MethodHandles.publicLookup().unreflectSetter(field(name));
        }
        boolean ofClass = name.startsWith(GUARD);
        return ofClass ? lookup.findStaticSetter(owner, name, int.class) : lookup.findSetter(owner, name, int.class);
    }

    private MethodHandle getter(MethodHandles.Lookup lookup, String name) throws ReflectiveOperationException {
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
            boolean isNew = table == null;
            if (isNew) {
                table = new MarkerTable(owner, lookup, rows, Clients.numbers(rows.length));
                place[0] = table;
            }
            Clients.load();
            if (isNew) {
                Clients.subscribe(table);
            }
        }
        table.update();
        return table;
    }

    /** For {@link #prepare}. */
    static int cct$markers0;

    /** Goes the way of a class that registers, once. */
    static void prepare() {
        String version = System.getProperty("java.specification.version", "");
        String row = "cctrewrite\1\1\1method\1prepare\1()V\0010\001-1\1";
        MethodHandles.Lookup lookup = version.startsWith("1.") ? null : MethodHandles.lookup();
        new MarkerTable(MarkerTable.class, lookup, new String[] {row}, 0).update();
        OF.get(Boot.class);
        Stacks.current().counts.entered(0, 0);
    }

    static MarkerTable ofInterface(Class<?> owner) {
        return OF.get(owner)[0];
    }

    /** Sets the guards by who is told. Not under the lock of the clients: a class may be in the middle of its initialisation. */
    synchronized void update() {
        for (int word = 0; word < guards.length; word++) {
            int bits = 0;
            for (int i = 32 * word; i < Math.min(descriptors.length, 32 * word + 32); i++) {
                bits |= descriptors[i].clients.length > 0 ? 1 << i : 0;
            }
            try {
                guards[word].invoke(bits);
            } catch (Throwable thrown) {
                throw new InternalError(owner.getName() + ": its markers' guards", thrown);
            }
        }
    }

    /** Whether an object is told of, where that is asked of objects. */
    void skip(Object object, int index, boolean skip) {
        try {
            int bits = (int) skipped.invokeExact(object);
            setSkipped.invokeExact(object, skip ? bits | 1 << index : bits & ~(1 << index));
        } catch (Throwable thrown) {
            throw new InternalError(owner.getName() + ": its objects' guards", thrown);
        }
    }

    /** The methods with markers. */
    List<MethodDescriptor> methods() {
        List<MethodDescriptor> methods = new ArrayList<>();
        for (MarkerDescriptor descriptor : descriptors) {
            if (methods.isEmpty() || methods.get(methods.size() - 1) != descriptor.method()) {
                methods.add(descriptor.method());
            }
        }
        return methods;
    }
}
