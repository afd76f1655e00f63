package cctrewrite.markers;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collections;
import java.util.Iterator;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Walks stacks with {@code java.lang.StackWalker} (JDK 9). It finds that class by name, since this
 * code is compiled for JDK 8.
 */
final class Walks {
    private static Object walker;
    /** {@code StackWalker.walk}. */
    private static MethodHandle walk;
    /** Methods of {@code StackFrame}. */
    private static MethodHandle className;
    private static MethodHandle methodName;
    private static MethodHandle element;

    static {
        try {
            find();
        } catch (ReflectiveOperationException olderJdk) {
            walker = null;
        }
    }

    private Walks() {}

    private static void find() throws ReflectiveOperationException {
        Class<?> type = Class.forName("java.lang.StackWalker");
        Class<?> frame = Class.forName("java.lang.StackWalker$StackFrame");
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        walk = lookup.findVirtual(type, "walk", MethodType.methodType(Object.class, Function.class))
                .asType(MethodType.methodType(Object.class, Object.class, Function.class));
        MethodType text = MethodType.methodType(String.class);
        MethodType ofObject = MethodType.methodType(String.class, Object.class);
        className = lookup.findVirtual(frame, "getClassName", text).asType(ofObject);
        methodName = lookup.findVirtual(frame, "getMethodName", text).asType(ofObject);
        element = lookup.findVirtual(frame, "toStackTraceElement",
                MethodType.methodType(StackTraceElement.class))
                .asType(MethodType.methodType(StackTraceElement.class, Object.class));
        walker = withReflection(type);
    }

    /** A walker that shows the frames of reflection, as exceptions do. */
    private static Object withReflection(Class<?> type) throws ReflectiveOperationException {
        for (Object option : Class.forName("java.lang.StackWalker$Option").getEnumConstants()) {
            if (option.toString().equals("SHOW_REFLECT_FRAMES")) {
                return type.getMethod("getInstance", Set.class)
                        .invoke(null, Collections.singleton(option));
            }
        }
        throw new ClassNotFoundException("SHOW_REFLECT_FRAMES");
    }

    static boolean canWalk() {
        return walker != null;
    }

    /** As {@link CallingContexts#frame}. */
    static StackTraceElement frame(int place) {
        try {
            return (StackTraceElement) walk.invokeExact(walker, (Function<?, ?>) new Search(place));
        } catch (RuntimeException | Error problem) {
            throw problem;
        } catch (Throwable problem) {
            throw new IllegalStateException(problem);
        }
    }

    /** Finds the frame at an index after the gate's frames. */
    private static final class Search implements Function<Stream<?>, Object> {
        private final int place;

        Search(int place) {
            this.place = place;
        }

        @Override
        public Object apply(Stream<?> frames) {
            try {
                return found(frames.iterator());
            } catch (RuntimeException | Error problem) {
                throw problem;
            } catch (Throwable problem) {
                throw new IllegalStateException(problem);
            }
        }

        private StackTraceElement found(Iterator<?> frames) throws Throwable {
            boolean isBehind = false;
            while (!isBehind && frames.hasNext()) {
                Object frame = frames.next();
                isBehind = CallingContexts.isGate((String) className.invokeExact(frame));
            }
            int wanted = place;
            while (frames.hasNext()) {
                Object frame = frames.next();
                if (wanted == place
                        && CallingContexts.isOurs((String) className.invokeExact(frame),
                                (String) methodName.invokeExact(frame))) {
                    continue;
                }
                if (wanted-- == 0) {
                    return (StackTraceElement) element.invokeExact(frame);
                }
            }
            return null;
        }
    }
}
