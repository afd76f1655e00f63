//! What strangers may send: targets for fuzzing, and mutators that know the formats
//! (docs/internals/fuzzing.md).
//!
//! A [target](TARGETS) takes any bytes, does with them what the tool would do, and panics if a
//! promise is broken. It runs in two places: in `cargo test`, for a fixed number of cases with
//! fixed seeds (`tests/smoke.rs`), and under libFuzzer for as long as somebody likes (`fuzz/`, a
//! workspace of its own, since it needs flags of the compiler that are not stable).
//!
//! The promises: no panic, no endless loop, memory that a small multiple of the input bounds; what
//! is accepted is written back as it was, or as a second reading says; and what was rewritten is a
//! class file as sound as the one it was made of.

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

/// States each target by itself, under its name: a program for libFuzzer that names one of them has
/// nothing of the others in it, and no counters of theirs, which are looked through after each
/// input. And [`TARGETS`], which has them all.
macro_rules! targets {
    ($($constant:ident: $name:literal, $run:ident, $seeds:ident, $mutate:ident;)*) => {
        $(
            #[doc = concat!("The target `", $name, "`.")]
            pub const $constant: Target =
                Target { name: $name, run: targets::$run, seeds: seeds::$seeds, mutate: mutate::$mutate };
        )*

        /// All targets.
        pub const TARGETS: &[Target] = &[$($constant),*];
    };
}

targets! {
    CLASS: "class", class, classes, class;
    REWRITE: "rewrite", rewrite, classes, class;
    LOADTIME: "loadtime", loadtime, classes, class;
    JAR: "jar", archive, jars, jar;
    IMAGE: "image", archive, images, image;
    INDEX: "index", index, indexes, index;
    PROFILE: "profile", profile, profiles, profile;
    ARENA: "arena", arena, arenas, arena;
    CONTEXTS: "contexts", contexts, lists, text;
    SELECTION: "selection", selection, patterns, text;
    TRACE: "trace", trace, traces, trace;
    LAST: "last", last, lasts, bytes;
    MODULE: "module", module, answers, bytes;
    MARKED: "marked", marked, classes, class;
    MARKERS: "markers", marker_rules, marker_rules, text;
    PROPERTIES: "properties", properties, properties, text;
    VIOLATIONS: "violations", violations, violations, text;
    VALUES: "values", values, values, values;
    MANIFEST: "manifest", manifest, manifests, manifest;
    OPTIONS: "options", options, options, text;
}

/// The target of this name. Panics if there is none.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap()
}

/// Has all work of this process done on this thread from now on: an input is small, and handing it
/// to another thread takes longer than what is done with it.
///
/// # Panics
/// If threads have been started for that work already.
pub fn on_this_thread() {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
}
