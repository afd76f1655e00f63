/**
 * The context of code that is entered without one: JP's root context (2005, figure 2), or what
 * {@link #carry} left for it (CCCP 2009, section 4.4).
 */
public final class RC {
    private static final ThreadLocal<IC> CURRENT = new ThreadLocal<>();

    private RC() {}

    public static IC current() {
        IC current = CURRENT.get();
        if (current == null) {
            current = new IC();
            CURRENT.set(current);
            say(current);
        }
        return current;
    }

    /** Before a call by the original signature. */
    public static void carry(IC caller) {
        CURRENT.set(caller);
    }

    /**
     * With {@code -Drecreated.print=yes} the sums of a tree are printed in the end, to be held
     * against a profile's.
     */
    static void say(IC root) {
        if (Boolean.getBoolean("recreated.print")) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                long[] total = root.total();
                System.err.println("calls " + total[0] + " bytecodes " + total[1]);
            }));
        }
    }
}
