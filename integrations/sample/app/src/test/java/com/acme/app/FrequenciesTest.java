package com.acme.app;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class FrequenciesTest {
    @Test
    void countsWords() {
        assertEquals("{a=1, fish=3}", Frequencies.of("Fish, a fish: FISH").toString());
    }
}
