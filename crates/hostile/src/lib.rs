//! Hostile inputs: targets for fuzzing, and mutators that know the formats
//! (docs/internals/fuzzing.md).
//!
//! A [target](TARGETS) takes any bytes, handles them as the tool would, and panics if a promise is
//! broken. It runs in two places: in `cargo test`, for a fixed number of cases with fixed seeds
//! (`tests/smoke.rs`), and under libFuzzer for any length of time (`fuzz/`, a workspace of its own,
//! since it needs unstable compiler flags).
//!
//! The promises: no panic, no endless loop, and memory bounded by a small multiple of the input.
//! Accepted inputs are written back unchanged, or with the same meaning for a second reader. A
//! rewritten class file is as valid as the original.

#![allow(clippy::unwrap_used, reason = "a broken promise is a panic here, which is what a fuzzer looks for")]

mod dice;
pub mod mutate;
pub mod seeds;
pub mod targets;

pub use dice::Dice;

/// A target with the mutator that knows its format.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Name of the target, and of its file in `fuzz/fuzz_targets`.
    pub name: &'static str,
    /// Takes any bytes; panics if a promise is broken.
    pub run: fn(&[u8]),
    /// Valid inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Changes an input while most of its structure stays valid.
    pub mutate: fn(&[u8], &mut Dice) -> Vec<u8>,
}

/// Declares each target as a constant of its own, so that a program for libFuzzer that names one
/// contains nothing of the others, nor their counters, which libFuzzer reads after each input. Also
/// declares [`TARGETS`] with all of them.
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

/// Makes this process do all work on this thread from now on: for small inputs, passing work to
/// another thread takes longer than the work.
///
/// # Panics
/// If threads have already been started for that work.
pub fn on_this_thread() {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
}
