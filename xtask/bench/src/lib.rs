//! `cargo xtask bench`: benchmarks for docs/benchmarks.md.
//!
//! They are not tests, since a busy machine distorts them; the person who runs them decides whether
//! to keep the numbers.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

mod chart;
pub mod ground;
pub mod machine;
mod markers;
mod measure;
mod memory;
pub mod page;
mod rewrite;
mod run;
mod scale;
mod sources;
mod trace;
mod trees;
mod turns;
mod typestate;
mod ways;

use anyhow::Result;
use clap::Subcommand;

/// A benchmark.
#[derive(Subcommand)]
pub enum Benchmark {
    /// Time of `cctrewrite instrument` on class libraries and jars of applications, compared with
    /// ASM, BCEL, JaCoCo, zip, and plain copies.
    Rewrite(rewrite::Arguments),
    /// Time of programs on profiled JDKs, compared with the plain ones.
    Run(run::Arguments),
    /// Memory per context, in the JVM and in the profile, and time for writing the profile.
    Memory(memory::Arguments),
    /// Cost of traces, compared with the plain JDK and the profile, and compression by several
    /// codecs.
    Trace(trace::Arguments),
    /// Cost of markers, compared with the plain JDK, by number of marked methods.
    Markers(markers::Arguments),
    /// Cost of typestate properties of iterators, adaptively and not.
    Typestate(typestate::Arguments),
    /// Growth of costs with threads, classes and contexts, and start-up times.
    Scale(scale::Arguments),
}

/// Runs a benchmark and writes its section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a part of it is missing, or fails.
pub fn run(benchmark: &Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Rewrite(arguments) => rewrite::run(arguments),
        Benchmark::Run(arguments) => run::run(arguments),
        Benchmark::Memory(arguments) => memory::run(arguments),
        Benchmark::Trace(arguments) => trace::run(arguments),
        Benchmark::Markers(arguments) => markers::run(arguments),
        Benchmark::Typestate(arguments) => typestate::run(arguments),
        Benchmark::Scale(arguments) => scale::run(arguments),
    }
}
