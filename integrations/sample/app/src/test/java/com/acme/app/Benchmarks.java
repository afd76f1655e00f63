package com.acme.app;

/** What `cctrewrite:check` counts. */
final class Benchmarks {
    private static final String TEXT =
        "Fish fish fish: a fish that other fish fish, fishes for fish.";

    private Benchmarks() {}

    static Object frequencies() {
        return Frequencies.of(TEXT);
    }
}
