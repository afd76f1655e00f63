package com.acme.app;

import com.acme.text.Words;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Counts the words of a text. */
public final class Frequencies {
    private Frequencies() {}

    /** How often each word occurs, in lower case. */
    public static Map<String, Integer> of(String text) {
        Map<String, Integer> frequencies = new TreeMap<>();
        for (String word : Words.of(text)) {
            frequencies.merge(word.toLowerCase(Locale.ROOT), 1, Integer::sum);
        }
        return frequencies;
    }
}
