package cctrewrite.agent;

/**
 * A profiling agent: "Periodic Activation of Custom Profiling Agents" (JP, section 5) with 64-bit
 * numbers. {@code -Dcctrewrite.agent=CLASS} names a public class with a public constructor without
 * parameters, which the system class loader finds; without the option it is
 * {@link AggregatingAgent}.
 *
 * <p>An agent is loaded right before the program's main class. It may use the whole class library:
 * whatever a thread executes inside these methods is not recorded. (Threads that an agent starts
 * are.) They are called by several threads at once. An agent that throws is reported on standard
 * error and switched off; the program goes on, and the profile is written as if there had been no
 * agent.
 */
public interface ProfilingAgent {
    /**
     * A thread starts: called by it before the first context is entered. For threads that already
     * ran when the agent was loaded, called by the loading thread.
     *
     * @return the granularity: about how many bytecodes the thread shall execute until it calls
     *     {@link #report}; at least 1
     */
    long register(Thread thread, RootContext root);

    /**
     * Called by a thread that has executed about as many bytecodes as it was last told. It owns the
     * tree, so nobody else writes it meanwhile.
     *
     * @param current what the thread executes now
     * @return the granularity until the next report; at least 1
     */
    long report(RootContext root, Context current);

    /**
     * The JVM ends. Other threads may still be running. An agent that calls {@code System.exit} or
     * {@code Runtime.halt} here has not dealt with the profile, which is then written as if the
     * agent had thrown.
     *
     * @throws Exception to say that the profile could not be dealt with, as if the agent had thrown
     *     before
     */
    void end(Profile profile) throws Exception;
}
