package cctrewrite.runtime;

import java.util.ArrayList;

/**
 * What of everything that is executed is in the profile (docs/use/parts.md), and what its reader
 * must know of that. In bypass.
 */
final class Selection {
    private Selection() {}

    /** In words; empty for all of it. */
    static String text() {
        String text = given();
        if (Settings.START_AT == null && Regions.used()) {
            text += (text.length() == 0 ? "" : "; ") + "regions";
        }
        return text;
    }

    /** As far as the user said it, and not the program. */
    static String given() {
        String text = Settings.EXTENT == null ? "" : "extents " + Settings.EXTENT;
        if (Settings.START_AT != null) {
            text += (text.length() == 0 ? "" : "; ") + "from " + Settings.START_AT + " on";
        }
        return text;
    }

    /**
     * Given the records of all trees. What may not be what was wanted is said on standard error,
     * too.
     */
    static void notes(long[] records, ArrayList<String> to) {
        if (Regions.used()) {
            Regions.notes(to);
        }
        ArrayList<String> troubles = new ArrayList<String>();
        if (records.length == 0 && Threads.failures() == 0L) {
            String why = Regions.emptiness();
            if (why == null && Settings.EXTENT != null) {
                why = "only extents were to be recorded (-Dcctrewrite.extent), and none was "
                        + "entered: " + Settings.EXTENT;
            }
            if (why != null) {
                troubles.add("the profile is empty: " + why);
            }
        }
        if (Settings.EXTENT != null || Settings.START_AT != null) {
            // By the threads' own trees: what was entered outside of a region was entered.
            TreeEntry[] all = Threads.snapshot();
            long[] trees = new long[all.length];
            for (int i = 0; i < all.length; i++) {
                trees[i] = all[i].record;
            }
            String[] remarks = LoadTime.selected(trees);
            for (int i = 0; remarks != null && i < remarks.length; i++) {
                troubles.add(remarks[i]);
            }
        }
        for (int i = 0; i < troubles.size(); i++) {
            Settings.say(troubles.get(i));
        }
        to.addAll(troubles);
    }
}
