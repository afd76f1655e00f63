package com.acme;

import dev.cctrewrite.junit.CountBudget;
import org.junit.jupiter.api.Test;

class LoopTest {
    @Test
    @CountBudget(bytecodes = 2000, of = "com.acme.**")
    void sums() {
        Loop.sum(100);
    }
}
