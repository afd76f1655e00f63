package cctrewrite.runtime;

import java.util.ArrayList;
import java.util.Collections;

/**
 * Classes that run but were not rewritten. They are missing from the tree, and the profile says so.
 * In bypass.
 */
final class RawClasses {
    private static final int NAMED = 20;
    private static final ArrayList<String> NAMES = new ArrayList<String>();
    private static final ArrayList<String> NOTES = new ArrayList<String>();

    private RawClasses() {}

    static synchronized void add(String name) {
        NAMES.add(name);
        Arena.rawClass(name);
    }

    static synchronized void note(String text) {
        NOTES.add(text);
        Arena.note(text);
    }

    /** Adds notes for the profile's reader. */
    static synchronized void notes(ArrayList<String> to) {
        to.addAll(NOTES);
        if (!NAMES.isEmpty()) {
            ArrayList<String> sorted = new ArrayList<String>(NAMES);
            Collections.sort(sorted);
            StringBuilder text = new StringBuilder();
            text.append(sorted.size()).append(sorted.size() == 1
                    ? " class was not rewritten and is" : " classes were not rewritten and are");
            text.append(" missing from the tree: ");
            for (int i = 0; i < sorted.size() && i < NAMED; i++) {
                text.append(i == 0 ? "" : ", ").append(sorted.get(i));
            }
            if (sorted.size() > NAMED) {
                text.append(", ...");
            }
            to.add(text.toString());
        }
        String[] loadTime = LoadTime.loaded() ? LoadTime.notes() : new String[0];
        for (int i = 0; i < loadTime.length; i++) {
            to.add(loadTime[i]);
        }
        int generated = Definitions.generated();
        if (generated > 0) {
            to.add(generated + " classes were generated while the program ran (lambdas, proxies, "
                    + "accessors) and are missing from the tree");
        }
    }

    static synchronized boolean any() {
        return !NAMES.isEmpty() || Definitions.generated() > 0;
    }
}
