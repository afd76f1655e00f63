package cctrewrite.api;

/**
 * Selects the parts of a program that are recorded.
 *
 * <p>On a JDK without the profiler these methods do nothing. On a profiled JDK they switch the
 * recording of the current thread or of all threads on and off. The profile does not contain what
 * runs while the recording is off.
 *
 * <p>A thread is recorded under one name at a time. Each name has a tree of its own in the profile.
 * The empty name is the default: its tree is the thread's own tree. With
 * {@code -Dcctrewrite.record=regions} the runtime records nothing until the program calls one of
 * the start methods.
 *
 * <p>Each switch takes time that grows with the number of the thread's contexts. Between switches
 * the program does not run slower than without them. No profile contains the switches themselves.
 *
 * <pre>
 * Recording.start("query");
 * try {
 *     query();
 * } finally {
 *     Recording.stop();
 * }
 * </pre>
 */
public final class Recording {
    private Recording() {}

    /** Records the current thread from now on, in its own tree. */
    public static void start() {}

    /**
     * Records the current thread from now on under a name. In the profile, a tree {@code thread
     * [name]} holds these contexts. The recording under an earlier name ends.
     *
     * @param name any text; null is the empty name
     */
    public static void start(String name) {}

    /** Stops the recording of the current thread. */
    public static void stop() {}

    /** Records all threads from now on, including those that start later. */
    public static void startAll() {}

    /**
     * Records all threads from now on under a name, including those that start later.
     *
     * @param name any text; null is the empty name
     */
    public static void startAll(String name) {}

    /** Stops the recording of all threads, including those that start later. */
    public static void stopAll() {}

    /** Whether the current thread is recorded. */
    public static boolean active() {
        return false;
    }
}
