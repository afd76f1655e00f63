/**
 * Compiled by JDK 8's `javac -g:none` to Counted.class and Caller.class; CountedWithBody.class is
 * Counted with a body, `return 1`, in the place of the native. It overrides a method of Object, so
 * it has no extended form, and callers count it.
 */
final class Counted {
    @Override
    public native int hashCode();
}

class Caller {
    static int call(Counted counted) {
        return counted.hashCode();
    }
}
