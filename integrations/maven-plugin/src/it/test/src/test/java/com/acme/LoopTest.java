package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.cctrewrite.junit.CountBudget;
import org.junit.jupiter.api.Test;

class LoopTest {
    @Test
    @CountBudget(bytecodes = 909, of = "com.acme.Loop")
    void hasABudget() {
        assertEquals(4950, Loop.sum(100));
    }

    @Test
    void isPlain() {
        assertEquals(45, Loop.sum(Integer.getInteger("rounds", 10)));
    }
}
