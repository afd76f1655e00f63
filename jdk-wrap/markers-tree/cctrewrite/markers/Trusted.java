package cctrewrite.markers;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;

/**
 * Who may write fields that classes have gained: these give no lookup, since to ask for one is a
 * call, and reflection does not show what they gained.
 */
final class Trusted {
    private Trusted() {}

    /** The one that the class library has for itself. */
    static MethodHandles.Lookup lookup() throws ReflectiveOperationException {
        Field field = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
        field.setAccessible(true);
        return (MethodHandles.Lookup) field.get(null);
    }
}
