package java.lang;

/**
 * Records which threads are in a transition: a virtual thread while it is mounted on its carrier or
 * unmounted from it, and that carrier.
 *
 * <p>HotSpot permits no stack walk of a thread in a transition. A thread that walks its own stack
 * waits for the end of the transition, and so for itself. Agents and clients run no code there,
 * either, since the thread could not park. The rewriter inserts calls of these methods where
 * {@code VirtualThread} notifies HotSpot that a transition begins or ends. The parameters have type
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
     * For {@code notifyJvmtiMount}, {@code notifyJvmtiUnmount} and {@code notifyJvmtiHideFrames}. A
     * call that must {@code hide} frames begins a transition; any other call ends it.
     */
    public static void change(Object virtual, boolean hide) {
        set(virtual, hide);
    }

    private static void set(Object virtual, boolean underWay) {
        ((Thread) virtual).cct$transition = underWay;
        Thread.currentCarrierThread().cct$transition = underWay;
    }
}
