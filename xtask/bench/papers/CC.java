/**
 * CCCP's simple approach (2009, figure 2): the context in a thread-local variable. Bytecodes are
 * counted as by JP.
 */
public final class CC extends IC {
    private static final ThreadLocal<IC> TL = new ThreadLocal<IC>() {
        @Override
        protected IC initialValue() {
            IC root = new IC();
            RC.say(root);
            return root;
        }
    };

    private CC() {}

    public static IC get() {
        return TL.get();
    }

    public static void set(IC context) {
        TL.set(context);
    }
}
