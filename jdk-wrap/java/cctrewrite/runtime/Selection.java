package cctrewrite.runtime;

import java.util.ArrayList;

/**
 * Describes which part of the execution is in the profile (docs/use/parts.md), and adds notes for
 * its reader. In bypass.
 */
final class Selection {
    private Selection() {}

    /** The selection in words; empty if all of the execution is in the profile. */
    static String text() {
        String text = given();
        if (Settings.START_AT == null && Regions.used()) {
            text += (text.length() == 0 ? "" : "; ") + "regions";
        }
        return text;
    }

    /** The part of the selection that comes from the user's options, and not from the program. */
    static String given() {
        String text = Settings.EXTENT == null ? "" : "extents " + Settings.EXTENT;
        if (Settings.START_AT != null) {
            text += (text.length() == 0 ? "" : "; ") + "from " + Settings.START_AT + " on";
        }
        return text;
    }

    /**
     * Adds notes, from the records of all trees. Also prints those on standard error that show a
     * likely mistake of the user.
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
            // Use the threads' own trees: they also contain methods entered outside of regions.
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
