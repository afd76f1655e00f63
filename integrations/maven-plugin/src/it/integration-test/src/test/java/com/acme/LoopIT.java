package com.acme;

import dev.cctrewrite.junit.CountBudget;
import org.junit.jupiter.api.Test;

class LoopIT {
    @Test
    @CountBudget(bytecodes = 900, of = "com.acme.**")
    void sums() {
        Loop.sum(100);
    }
}
