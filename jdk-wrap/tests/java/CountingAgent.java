import cctrewrite.agent.Context;
import cctrewrite.agent.Profile;
import cctrewrite.agent.ProfilingAgent;
import cctrewrite.agent.RootContext;

/**
 * Asks for a report every hundred bytecodes, resets the counters that it reads, and prints its
 * calls.
 */
public class CountingAgent implements ProfilingAgent {
    private int reports;
    private long sum;

    public long register(Thread thread, RootContext root) {
        if (thread.getName().equals("worker") || thread.getName().equals("main")) {
            System.out.println("register " + thread.getName() + " " + root.threadName());
        }
        return 100;
    }

    public long report(RootContext root, Context current) {
        reports++;
        sum += current.bytecodes();
        current.reset();
        if (!root.equals(current.parent()) || root.parent() != null) {
            throw new IllegalStateException("parent");
        }
        return 100;
    }

    public void end(Profile profile) throws Exception {
        long left = 0;
        for (RootContext root : profile.threads()) {
            for (Context child : root.children()) {
                if (child.method() != null) {
                    System.out.println(root.threadName() + ": " + child);
                }
                left += child.bytecodes();
            }
        }
        System.out.println("reports=" + reports + " sum=" + sum + " left=" + left);
        Context merged = profile.merged();
        System.out.println("merged children=" + merged.children().length + " first="
                + merged.firstChild().method().name());
        profile.write(profile.file());
    }
}
