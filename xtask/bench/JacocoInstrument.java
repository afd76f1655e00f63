import java.io.IOException;
import org.jacoco.core.instr.Instrumenter;
import org.jacoco.core.runtime.OfflineInstrumentationAccessGenerator;

/**
 * Puts the probes of JaCoCo's offline instrumentation into classes: one for each branch that
 * coverage needs, much less than a context.
 */
public final class JacocoInstrument {
    public static void main(String[] arguments) throws IOException {
        Instrumenter instrumenter = new Instrumenter(new OfflineInstrumentationAccessGenerator());
        Rewriting.run(arguments, instrumenter::instrument);
    }
}
