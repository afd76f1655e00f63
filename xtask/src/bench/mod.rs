//! `cargo xtask bench`: measurements for docs/benchmarks.md.
//!
//! They are no tests, since a busy machine measures something else; whoever runs them decides
//! whether the numbers are worth keeping.

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

/// What can be measured.
#[derive(Subcommand)]
pub enum Benchmark {
    /// How long `cctrewrite instrument` takes on class libraries and jars of applications, beside
    /// ASM, BCEL, JaCoCo, zip, and plain copies.
    Rewrite(rewrite::Arguments),
    /// How long programs take on profiled JDKs, beside the plain ones.
    Run(run::Arguments),
    /// How much memory contexts take, in the JVM and in the profile, and how long the profile's
    /// writing takes.
    Memory(memory::Arguments),
    /// What traces cost beside the plain JDK and the profile, and what codecs make of them.
    Trace(trace::Arguments),
    /// What markers cost beside the plain JDK, by how many methods are marked.
    Markers(markers::Arguments),
    /// What typestate properties of iterators cost, adaptively and not.
    Typestate(typestate::Arguments),
    /// How costs grow with threads, classes and contexts, and what starting takes.
    Scale(scale::Arguments),
}

/// Runs a benchmark and writes its section of docs/benchmarks.md.
///
/// # Errors
/// If something that is to be measured cannot be had, or fails.
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
