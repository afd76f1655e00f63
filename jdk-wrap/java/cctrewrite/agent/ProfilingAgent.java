package cctrewrite.agent;

/**
 * A profiling agent: "Periodic Activation of Custom Profiling Agents" (JP, section 5) with 64-bit
 * numbers.
 *
 * <p>{@code -Dcctrewrite.agent=CLASS} names a public class that has a public constructor without
 * parameters and that the system class loader finds. The default is {@link AggregatingAgent}.
 *
 * <p>The runtime loads the agent right before the program's main class. An agent may use the whole
 * class library: the runtime records nothing that a thread executes inside these methods. It does
 * record threads that an agent starts. Several threads can call these methods at once. If an agent
 * throws, the runtime reports it on standard error and switches the agent off. The program
 * continues, and the runtime writes the profile as without an agent.
 * agent.
 */
public interface ProfilingAgent {
    /**
     * A thread starts. The thread itself calls this method before it enters its first context. For
     * threads that already ran when the agent was loaded, the loading thread calls it.
     *
     * @return the granularity: about how many bytecodes the thread shall execute until it calls
     *     {@link #report}; at least 1
     */
    long register(Thread thread, RootContext root);

    /**
     * Reports the tree of a thread. The thread calls this method after about as many bytecodes as
     * the last granularity. It owns the tree, so no other thread writes it meanwhile.
     *
     * @param current the context that the thread executes now
     * @return the granularity until the next report; at least 1
     */
    long report(RootContext root, Context current);

    /**
     * The JVM ends. Other threads may still run. If an agent calls {@code System.exit} or
     * {@code Runtime.halt} here, the runtime writes the profile as if the agent had thrown.
     *
     * @throws Exception if the agent cannot handle the profile; then the runtime writes it, as
     *     after any exception of an agent
     */
    void end(Profile profile) throws Exception;
}
