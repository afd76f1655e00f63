package java.lang;

import cctrewrite.runtime.Layout;
import cctrewrite.runtime.LoadTime;
import cctrewrite.runtime.Offsets;
import cctrewrite.runtime.Pcc;
import cctrewrite.runtime.Tracing;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import sun.misc.Unsafe;

/**
 * Counts natives that are called by method handles and reflection. Their callers do not know the
 * callee, and a native has no body that could count. So the load-time library looks the native up
 * at the call. For method handles, the native's class caches the result.
 */
public final class CctNatives {
    private static final Unsafe U = CctMemory.U;

    private static final long MEMBER_CLASS;
    private static final long MEMBER_NAME;
    private static final long MEMBER_TYPE;
    private static final long TYPE_RESULT = Offsets.of(MethodType.class, "rtype");
    private static final long TYPE_PARAMETERS = Offsets.of(MethodType.class, "ptypes");

    static {
        Class<?> member = memberName();
        MEMBER_CLASS = Offsets.of(member, "clazz");
        MEMBER_NAME = Offsets.of(member, "name");
        MEMBER_TYPE = Offsets.of(member, "type");
        CctRuntime.followLinks(Offsets.of(member, "flags"));
    }

    /** A native that has been looked up, and the entry before it in the list. */
    private static final class NativeEntry {
        final Object name;
        final Object type;
        final long mid;
        final NativeEntry next;

        NativeEntry(Object name, Object type, long mid, NativeEntry next) {
            this.name = name;
            this.type = type;
            this.mid = mid;
            this.next = next;
        }
    }

    private CctNatives() {}

    private static Class<?> memberName() {
        try {
            return Class.forName("java.lang.invoke.MemberName", false, null);
        } catch (ClassNotFoundException e) {
            throw new NoClassDefFoundError(e.getMessage());
        }
    }

    /**
     * Counts the entry of {@code method}, if it is a native. Reflection calls it through
     * {@code invoke0}, whose entry calls this method.
     */
    public static void entered$invoke0(Method method, Object receiver, Object[] arguments) {
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        boolean nothing = Pcc.on()
                ? (context & 1L) == 0L : (context & Layout.ADDRESS) < CctRuntime.LIMIT;
        if (nothing || method == null || !LoadTime.loaded()) {
            return;
        }
        long mid = 0L;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            if (Modifier.isNative(method.getModifiers()) && isCalled(method, receiver)) {
                mid = LoadTime.nativeMethod(
                        method.getDeclaringClass(), method.getName(), method.getReturnType(),
                        method.getParameterTypes());
            }
        } finally {
            thread.cct$context = context;
        }
        if (Tracing.on()) {
            CctTrace.nativeCall(mid, context);
        } else if (Pcc.on()) {
            CctPcc.nativeCall(mid, context);
        } else {
            CctRuntime.nativeCall(mid, context);
        }
    }

    /** Whether the call runs the method itself and not an override. */
    private static boolean isCalled(Method method, Object receiver) {
        Class<?> of = method.getDeclaringClass();
        if (Modifier.isStatic(method.getModifiers())) {
            return true;
        }
        if (receiver == null) {
            return false;
        }
        if (receiver.getClass() == of || ((method.getModifiers() | of.getModifiers())
                & (Modifier.FINAL | Modifier.PRIVATE)) != 0) {
            return true;
        }
        return of == Object.class && method.getName().equals("hashCode")
                && LoadTime.inheritsHashCode(receiver.getClass()) == 1L;
    }

    /** The method id of the native that a {@code MemberName} names, or 0. */
    static long ofMember(Object member) {
        Object of = U.getObject(member, MEMBER_CLASS);
        Object name = U.getObject(member, MEMBER_NAME);
        Object type = U.getObject(member, MEMBER_TYPE);
        // Linked members have both: the JVM's own string, and the only object of that type.
        if (!(of instanceof Class) || !(name instanceof String) || !(type instanceof MethodType)) {
            return 0L;
        }
        for (NativeEntry found = (NativeEntry) ((Class<?>) of).cct$natives; found != null;
                found = found.next) {
            if (found.name == name && found.type == type) {
                return found.mid;
            }
        }
        return lookUp((Class<?>) of, (String) name, (MethodType) type);
    }

    private static long lookUp(Class<?> of, String name, MethodType type) {
        if (!LoadTime.loaded()) {
            return 0L;
        }
        Thread thread = Thread.currentThread();
        long context = thread.cct$context;
        try {
            thread.cct$context = CctRuntime.BYPASS;
            Class<?> result = (Class<?>) U.getObject(type, TYPE_RESULT);
            long mid = LoadTime.nativeMethod(of, name, result,
                    (Class<?>[]) U.getObject(type, TYPE_PARAMETERS));
            // If another thread does so at the same time, one of the two entries is lost and is
            // looked up again.
            of.cct$natives = new NativeEntry(name, type, mid, (NativeEntry) of.cct$natives);
            return mid;
        } finally {
            thread.cct$context = context;
        }
    }
}
