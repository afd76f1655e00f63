package cctrewrite.markers;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Field;

/**
 * Gives access to the fields that the rewriter adds to classes. These classes provide no lookup,
 * since asking for one would be a call, and reflection hides the added fields.
 */
final class Trusted {
    private Trusted() {}

    /** The class library's own lookup. */
    static MethodHandles.Lookup lookup() throws ReflectiveOperationException {
        Field field = MethodHandles.Lookup.class.getDeclaredField("IMPL_LOOKUP");
        field.setAccessible(true);
        return (MethodHandles.Lookup) field.get(null);
    }
}
