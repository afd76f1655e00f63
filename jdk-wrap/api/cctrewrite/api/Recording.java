package cctrewrite.api;

/**
 * Says which parts of a program are recorded.
 *
 * <p>On a JDK that is not profiled these methods do nothing. On a profiled one they switch the
 * recording, of the current thread or of all threads, and what was executed while it was off is not
 * in the profile. A thread is recorded under one name at a time, and each name has a tree of its
 * own in the profile; the empty name, under which everything is recorded until somebody says
 * otherwise, has the thread's. With {@code -Dcctrewrite.record=regions} nothing is recorded until
 * somebody says so.
 *
 * <p>Each switch takes time that grows with the number of the thread's contexts; in between nothing
 * is slower than without it. The switches themselves are in no profile.
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

    /** From now on the current thread is recorded, in its own tree. */
    public static void start() {}

    /**
     * From now on the current thread is recorded under this name: in the profile there is a tree
     * for {@code thread [name]}. If it was being recorded under another name, that has ended.
     *
     * @param name any text; null is the empty name
     */
    public static void start(String name) {}

    /** From now on the current thread is not recorded. */
    public static void stop() {}

    /** From now on all threads are recorded, those too that start later. */
    public static void startAll() {}

    /**
     * From now on all threads are recorded under this name, those too that start later.
     *
     * @param name any text; null is the empty name
     */
    public static void startAll(String name) {}

    /** From now on no thread is recorded, those neither that start later. */
    public static void stopAll() {}

    /** Whether the current thread is recorded. */
    public static boolean active() {
        return false;
    }
}
