import cctrewrite.agent.Context;
import cctrewrite.agent.Profile;
import cctrewrite.agent.ProfilingAgent;
import cctrewrite.agent.RootContext;

/** Fails at its first report. */
public class FailingAgent implements ProfilingAgent {
    public long register(Thread thread, RootContext root) {
        return 1;
    }

    public long report(RootContext root, Context current) {
        throw new IllegalStateException("on purpose");
    }

    public void end(Profile profile) {
        System.out.println("never");
    }
}
