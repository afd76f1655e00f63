package com.acme;

import org.junit.jupiter.api.Test;

class LoopTest {
    @Test
    void sums() {
        Loop.sum(100);
    }
}
