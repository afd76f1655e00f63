package com.acme.text;

import java.util.ArrayList;
import java.util.List;

/** Splits texts into words. */
public final class Words {
    private Words() {}

    /** The words of a text: longest sequences of letters. */
    public static List<String> of(String text) {
        List<String> words = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= text.length(); i++) {
            if (i == text.length() || !isLetter(text.charAt(i))) {
                if (i > start) {
                    words.add(text.substring(start, i));
                }
                start = i + 1;
            }
        }
        return words;
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z';
    }
}
