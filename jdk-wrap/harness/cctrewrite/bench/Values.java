package cctrewrite.bench;

/**
 * Values of arguments in their text form: {@code q} and a string, or {@code b} and a number,
 * {@code true}, {@code false}, {@code null} or the name of an enum constant.
 */
final class Values {
    /** Numeric types, in order of preference for a number without a decimal point. */
    private static final Class<?>[] NUMBERS = {
        int.class, long.class, Integer.class, Long.class, short.class, byte.class, double.class,
        float.class, Short.class, Byte.class, Double.class, Float.class,
    };

    private Values() {}

    /**
     * How well a parameter of the type fits the argument: 0 is best, -1 means that it does not fit.
     */
    static int distance(String argument, Class<?> type) {
        boolean isQuoted = argument.charAt(0) == 'q';
        String text = argument.substring(1);
        if (type.isAssignableFrom(String.class)) {
            boolean isNull = !isQuoted && text.equals("null");
            int further = type == String.class ? 0 : 20;
            return further + (isQuoted || isNull ? 0 : 40);
        }
        if (type == char.class || type == Character.class) {
            return text.length() == 1 ? (isQuoted ? 10 : 30) : -1;
        }
        if (isQuoted) {
            return -1;
        }
        for (int i = 0; i < NUMBERS.length; i++) {
            if (type == NUMBERS[i]) {
                return convert(text, type) == null && !isNull(text, type) ? -1 : i;
            }
        }
        return convert(text, type) != null ? 0 : isNull(text, type) ? 5 : -1;
    }

    /** The value of an argument that fits. */
    static Object of(String argument, Class<?> type) {
        String text = argument.substring(1);
        if (argument.charAt(0) == 'b' && isNull(text, type)) {
            return null;
        }
        if (type.isAssignableFrom(String.class)) {
            return text;
        }
        return type == char.class || type == Character.class ? (Object) text.charAt(0) : convert(text, type);
    }

    private static boolean isNull(String text, Class<?> type) {
        return text.equals("null") && !type.isPrimitive();
    }

    /** The value of an unquoted text; null if the type has no such value. */
    private static Object convert(String text, Class<?> type) {
        try {
            if (type == boolean.class || type == Boolean.class) {
                return text.equals("true") ? Boolean.TRUE : text.equals("false") ? Boolean.FALSE : null;
            } else if (type == int.class || type == Integer.class) {
                return Integer.decode(text);
            } else if (type == long.class || type == Long.class) {
                return Long.decode(text.endsWith("L") ? text.substring(0, text.length() - 1) : text);
            } else if (type == short.class || type == Short.class) {
                return Short.decode(text);
            } else if (type == byte.class || type == Byte.class) {
                return Byte.decode(text);
            } else if (type == double.class || type == Double.class) {
                return Double.valueOf(text);
            } else if (type == float.class || type == Float.class) {
                return Float.valueOf(text);
            }
        } catch (NumberFormatException e) {
            return null;
        }
        if (type.isEnum()) {
            for (Object constant : type.getEnumConstants()) {
                if (((Enum<?>) constant).name().equals(text)) {
                    return constant;
                }
            }
        }
        return null;
    }
}
