//! `cargo xtask bench`: measurements for docs/benchmarks.md.
//!
//! They are no tests, since a busy machine measures something else; whoever runs them decides whether the numbers are worth keeping.

mod asm;
mod machine;
mod measure;
mod page;
mod rewrite;

use anyhow::Result;
use clap::Subcommand;

/// What can be measured.
#[derive(Subcommand)]
pub enum Benchmark {
    /// How long `cctrewrite instrument rt.jar` takes, beside ASM doing comparable work, and a plain copy.
    Rewrite(rewrite::Arguments),
}

/// Runs a benchmark and writes its section of docs/benchmarks.md.
///
/// # Errors
/// If something that is to be measured cannot be had, or fails.
pub fn run(benchmark: &Benchmark) -> Result<()> {
    match benchmark {
        Benchmark::Rewrite(arguments) => rewrite::run(arguments),
    }
}
