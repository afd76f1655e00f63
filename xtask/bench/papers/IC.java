import java.util.HashMap;
import java.util.Map;

/** JP's invocation context, as figure 1 of its paper has it (2005). */
public class IC {
    int invoc;
    public int instr;
    public final Map<Object, IC> callees = new HashMap<>();

    public final IC profileCall(Object mid) {
        IC ic = callees.get(mid);
        if (ic == null) {
            ic = new IC();
            callees.put(mid, ic);
        }
        ++ic.invoc;
        return ic;
    }

    /** Calls in this context and below, and bytecodes. */
    long[] total() {
        long[] sum = {invoc, instr & 0xffffffffL};
        for (IC callee : callees.values()) {
            long[] below = callee.total();
            sum[0] += below[0];
            sum[1] += below[1];
        }
        return sum;
    }
}
