package java.lang;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/**
 * The members of Class that the runtime uses, with the field that the rewriter adds. Only compiled
 * against, never shipped.
 */
public final class Class<T> implements java.io.Serializable, java.lang.reflect.GenericDeclaration,
        java.lang.reflect.Type,
        java.lang.reflect.AnnotatedElement {
    /** See docs/internals/runtime.md: whether the class inherits hashCode from Object. */
    long cct$inherits;

    /**
     * See docs/internals/runtime.md: the natives of the class that method handles and reflection
     * have called.
     */
    Object cct$natives;

    /**
     * See docs/use/allocations.md: the id that counts objects of the class, where objects are
     * counted.
     */
    long cct$type;

    public long cct$class;

    public static native Class<?> forName(String name) throws ClassNotFoundException;

    public static native Class<?> forName(String name, boolean initialize, ClassLoader loader)
            throws ClassNotFoundException;

    public native T newInstance() throws InstantiationException, IllegalAccessException;

    public native String getName();

    public native Class<?> getComponentType();

    public native ClassLoader getClassLoader();

    public native java.io.InputStream getResourceAsStream(String name);

    public native Method getDeclaredMethod(String name, Class<?>... parameters)
            throws NoSuchMethodException;

    public native int getModifiers();

    public native Method[] getDeclaredMethods();

    /** See docs/internals/runtime.md: the natives, without their hooks. */
    native Field[] cct$getDeclaredFields0(boolean publicOnly);

    native Method[] cct$getDeclaredMethods0(boolean publicOnly);

    public native Field getDeclaredField(String name) throws NoSuchFieldException;

    public native Constructor<T> getDeclaredConstructor(Class<?>... parameters)
            throws NoSuchMethodException;

    @Override
    public native java.lang.reflect.TypeVariable<Class<T>>[] getTypeParameters();

    @Override
    public native <A extends java.lang.annotation.Annotation> A getAnnotation(Class<A> type);

    @Override
    public native java.lang.annotation.Annotation[] getAnnotations();

    @Override
    public native java.lang.annotation.Annotation[] getDeclaredAnnotations();
}
