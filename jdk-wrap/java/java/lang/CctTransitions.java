package java.lang;

/**
 * Keeps track of which threads are in a transition: a virtual thread that is being mounted on its
 * carrier or unmounted from it, and that carrier.
 *
 * <p>HotSpot does not let anyone walk the stack of a thread in a transition: a thread that asks for
 * its own waits for the transition to end, and so for itself. Agents and clients run no code there
 * either, since the thread could not park. The rewriter calls these methods where
 * {@code VirtualThread} notifies HotSpot that a transition begins or ends. The parameters are of type
 * {@code Object} because older JDKs have no {@code VirtualThread}.
 *
 * <p>The rules of {@link CctRuntime} hold.
 */
public final class CctTransitions {
    private CctTransitions() {}

    /**
     * For {@code notifyJvmtiEnd} and {@code startFinalTransition}: the virtual thread leaves its
     * carrier for good.
     */
    public static void begin(Object virtual) {
        set(virtual, true);
    }

    /** For {@code startTransition}. */
    public static void begin(Object virtual, boolean isMount) {
        set(virtual, true);
    }

    /**
     * For {@code notifyJvmtiStart} and {@code endFirstTransition}: the virtual thread runs for the
     * first time.
     */
    public static void end(Object virtual) {
        set(virtual, false);
    }

    /** For {@code endTransition}. */
    public static void end(Object virtual, boolean isMount) {
        set(virtual, false);
    }

    /**
     * For {@code notifyJvmtiMount}, {@code notifyJvmtiUnmount} and {@code notifyJvmtiHideFrames},
     * which begin a transition if they are to {@code hide} frames, and end it otherwise.
     */
    public static void change(Object virtual, boolean hide) {
        set(virtual, hide);
    }

    private static void set(Object virtual, boolean underWay) {
        ((Thread) virtual).cct$transition = underWay;
        Thread.currentCarrierThread().cct$transition = underWay;
    }
}
