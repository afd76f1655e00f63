package com.acme.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.cctrewrite.junit.CountBudget;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class WordsTest {
    /** At most 50 bytecodes for each of the 44 characters. */
    @Test
    @CountBudget(bytecodes = 50 * 44, of = "com.acme.**")
    void splitsASentence() {
        assertEquals(
            Arrays.asList("The", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"),
            Words.of("The quick brown fox jumps over the lazy dog."));
    }
}
