import cctrewrite.agent.Context;
import cctrewrite.agent.Profile;
import cctrewrite.agent.ProfilingAgent;
import cctrewrite.agent.RootContext;

/** Prints the sums over the merged tree, and its first contexts. */
public class MergingAgent implements ProfilingAgent {
    public long register(Thread thread, RootContext root) {
        return Long.MAX_VALUE;
    }

    public long report(RootContext root, Context current) {
        return Long.MAX_VALUE;
    }

    public void end(Profile profile) {
        Context root = profile.merged();
        long contexts = 0;
        long calls = 0;
        long bytecodes = 0;
        // Preorder by siblings and parents.
        for (Context c = root; c != null; ) {
            contexts++;
            calls += c.calls();
            bytecodes += c.bytecodes();
            Context next = c.firstChild();
            while (next == null && c != null) {
                next = c.nextSibling();
                c = c.parent();
            }
            c = next;
        }
        System.out.println("contexts=" + contexts + " calls=" + calls + " bytecodes=" + bytecodes);
        System.out.println("first: " + root.firstChild());
    }
}
