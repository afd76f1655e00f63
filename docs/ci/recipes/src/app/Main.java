package app;

import util.Text;

/** Counts the words of a few lines. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        int words = 0;
        for (int i = 0; i < 1000; i++) {
            words += Text.words("line " + i + " of a thousand").length;
        }
        System.out.println(words + " words");
    }
}
