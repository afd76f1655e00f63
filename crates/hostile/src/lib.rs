//! What strangers may send: targets for fuzzing, and mutators that know the formats (docs/fuzzing.md).
//!
//! A [target](TARGETS) takes any bytes, does with them what the tool would do, and panics if a promise is broken. It runs in two places:
//! in `cargo test`, for a fixed number of cases with fixed seeds (`tests/smoke.rs`), and under libFuzzer for as long as somebody likes
//! (`fuzz/`, a workspace of its own, since it needs a nightly compiler).
//!
//! The promises: no panic, no endless loop, memory that a small multiple of the input bounds; what is accepted is written back as it was,
//! or as a second reading says; and what was rewritten is a class file as sound as the one it was made of.

#![allow(clippy::unwrap_used, reason = "a broken promise is a panic here, which is what a fuzzer looks for")]

mod dice;
pub mod mutate;
pub mod seeds;
pub mod targets;

pub use dice::Dice;

/// A target with the mutator that knows its format.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, also that of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Takes any bytes; panics if a promise is broken.
    pub run: fn(&[u8]),
    /// Sound inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Changes an input in a way that leaves most of its structure sound.
    pub mutate: fn(&[u8], &mut Dice) -> Vec<u8>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "class", run: targets::class, seeds: seeds::classes, mutate: mutate::class },
    Target { name: "rewrite", run: targets::rewrite, seeds: seeds::classes, mutate: mutate::class },
    Target { name: "loadtime", run: targets::loadtime, seeds: seeds::classes, mutate: mutate::class },
    Target { name: "jar", run: targets::archive, seeds: seeds::jars, mutate: mutate::jar },
    Target { name: "image", run: targets::archive, seeds: seeds::images, mutate: mutate::image },
    Target { name: "index", run: targets::index, seeds: seeds::indexes, mutate: mutate::bytes },
    Target { name: "profile", run: targets::profile, seeds: seeds::profiles, mutate: mutate::profile },
    Target { name: "arena", run: targets::arena, seeds: seeds::arenas, mutate: mutate::arena },
    Target { name: "contexts", run: targets::contexts, seeds: seeds::lists, mutate: mutate::text },
    Target { name: "selection", run: targets::selection, seeds: seeds::patterns, mutate: mutate::text },
    Target { name: "trace", run: targets::trace, seeds: seeds::traces, mutate: mutate::trace },
    Target { name: "last", run: targets::last, seeds: seeds::lasts, mutate: mutate::bytes },
    Target { name: "module", run: targets::module, seeds: seeds::answers, mutate: mutate::bytes },
    Target { name: "marked", run: targets::marked, seeds: seeds::classes, mutate: mutate::class },
    Target { name: "markers", run: targets::marker_rules, seeds: seeds::marker_rules, mutate: mutate::text },
    Target { name: "properties", run: targets::properties, seeds: seeds::properties, mutate: mutate::text },
    Target { name: "violations", run: targets::violations, seeds: seeds::violations, mutate: mutate::text },
    Target { name: "values", run: targets::values, seeds: seeds::values, mutate: mutate::values },
];

/// The target of this name. Panics if there is none.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap()
}
