//! The entry point of all developer tasks: `cargo xtask <command>`.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

mod dist;
mod fixtures;
mod fuzz;
mod integrations;
mod papers;
mod quickstart;
mod readers;
mod reproducible;
mod runtime;
mod site;
mod structure;
mod test;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};
use xtask_tools::jdks;
use xtask_tools::print::print_line;

/// Tasks for developers of cctrewrite.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// See the calling-context tree and the flame graph of a program, on a machine that has only
    /// Rust.
    ///
    /// Finds or fetches a JDK, builds cctrewrite, runs the program (a sample, or your own command)
    /// on the profiled JDK, prints the tree and draws the flame graph.
    Quickstart(quickstart::Arguments),

    /// Run all checks and tests: format, lints, and the tests on all available JDKs.
    ///
    /// JDK 8 is needed; tests for other JDKs that are missing count as skipped. The last line says
    /// how many tests passed, failed and were skipped.
    Test(test::Arguments),

    /// Run real programs plain and profiled, and compare their behaviour
    /// (docs/internals/programs.md).
    ///
    /// Rhino, Jython, FOP, Xalan, databases, Ant, compilers: fetched from Debian's packages into
    /// the cache folder, run on a plain JDK 8 and on a rewritten one. Ends with a table, and fails
    /// if there is any difference without a known cause.
    Programs(xtask_programs::Arguments),

    /// Rewrite hundreds of jars from other compilers and an obfuscator, and let JVMs link every
    /// class of them (docs/internals/foreign.md).
    ///
    /// Each class is read and written, instrumented, checked against its original, linked by a
    /// plain JVM, and, rewritten, by a profiled one. Ends with a table, and fails if there is any
    /// difference without a known cause.
    Foreign(xtask_foreign::Arguments),

    /// Find the programs that the tests of exports use, or fetch them into the cache folder
    /// (docs/use/exports.md).
    ///
    /// callgrind_annotate, pprof, speedscope and DuckDB read the output of `cctrewrite export`.
    /// Prints a line for each, and the variable with their folder for the tests.
    Readers {
        /// Only search; download nothing.
        #[arg(long)]
        offline: bool,
    },

    /// Profile a server under load for an hour, and compare its counts with the requests
    /// (docs/internals/soak.md).
    Soak(xtask_soak::Arguments),

    /// Run the fuzz targets under libFuzzer in turns, and print a summary
    /// (docs/internals/fuzzing.md).
    ///
    /// Builds them with this compiler, writes their seeds into `fuzz/corpus`, where new inputs are
    /// kept, and ends with a table. Fails if a target found something, and names the input.
    Fuzz(fuzz::Arguments),

    /// Build the tool twice, in two folders, and compare both and their outputs, byte for byte
    /// (docs/ci/reproducible.md).
    Reproducible(reproducible::Arguments),

    /// Build the Java projects in `integrations/` by Maven, and run their tests on plain and on
    /// profiled JDKs (docs/ci/junit.md, docs/ci/maven.md).
    Integrations(integrations::Arguments),

    /// Check the order of crates and of modules: layers, and unlisted circles (ARCHITECTURE.md).
    ///
    /// Reads the sources. Fails if a crate depends on one that is not below it, or if files of a
    /// crate depend on each other in a circle that `structure.toml` does not list with its reason.
    Structure,

    /// Compile the Java sources of the runtime, and keep the class files
    /// (docs/internals/runtime.md).
    ///
    /// Run it after editing a source in `jdk-wrap`. It always uses the compiler of JDK 8, so that
    /// the class files are the same on every machine. A build uses them unchanged, and needs no
    /// JDK.
    Runtime(runtime::Arguments),

    /// Compile the sources of fixtures and of tests, and keep the class files (fixtures/README.md).
    ///
    /// Each has its compiler: that of the JDK which `xtask/src/fixtures/recipes.rs` names. Lists
    /// each file that differs from the existing one, and files without a source.
    Fixtures(fixtures::Arguments),

    /// Compute the papers' tables for programs of today, and write them into
    /// docs/research/papers.md.
    ///
    /// Natives and the overlap with trees without them, calls between application and JDK (CCCP
    /// 2009), methods and contexts (JP2 2011).
    Papers(papers::Arguments),

    /// Make a site of static HTML, with search, from the documentation.
    ///
    /// By mdBook: the installed one, or one that is built in the cache folder. Checks all links
    /// between the pages.
    Docs(site::Arguments),

    /// Make packages of the command: a tarball, a Debian package and a container image
    /// (docs/internals/packaging.md).
    ///
    /// For Linux on x86-64 with glibc 2.28 or later, the same bytes each time, in `target/dist`.
    /// With `--check`, installs each in a clean root, runs a program there, and removes it.
    Dist(dist::Arguments),

    /// Run a benchmark, and write the result into docs/benchmarks.md.
    #[command(subcommand)]
    Bench(xtask_bench::Benchmark),

    /// Find the JDKs that the tests use, or fetch them into the cache folder
    /// (docs/internals/jdks.md).
    ///
    /// Prints one line per version: version, home, origin, full version; for a missing version, the
    /// reason.
    Jdks {
        /// The wanted versions, for instance `8 21`; the task fails if one of them is missing.
        /// Default: all that the tests use.
        #[arg(value_name = "VERSION", value_parser = jdks::supported)]
        versions: Vec<u32>,
        /// Only search; download nothing.
        #[arg(long)]
        offline: bool,
    },
}

/// Permission bits that no new file gets.
const NOT_BY_OTHERS: rustix::fs::Mode = rustix::fs::Mode::WGRP.union(rustix::fs::Mode::WOTH);

fn main() -> Result<ExitCode> {
    // JDKs and packages in the cache folder are run later: nobody else may write to them.
    let umask = rustix::process::umask(NOT_BY_OTHERS);
    rustix::process::umask(umask | NOT_BY_OTHERS);
    match Arguments::parse().task {
        Task::Quickstart(arguments) => quickstart::run(&arguments)?,
        Task::Test(arguments) => return test::run(&arguments),
        Task::Programs(arguments) => return xtask_programs::run(&arguments),
        Task::Foreign(arguments) => return xtask_foreign::run(&arguments),
        Task::Readers { offline } => readers::run(offline)?,
        Task::Soak(arguments) => xtask_soak::run(&arguments)?,
        Task::Fuzz(arguments) => fuzz::run(&arguments)?,
        Task::Reproducible(arguments) => reproducible::run(&arguments)?,
        Task::Integrations(arguments) => integrations::run(&arguments)?,
        Task::Structure => return structure::run(),
        Task::Runtime(arguments) => runtime::run(&arguments)?,
        Task::Fixtures(arguments) => fixtures::run(&arguments)?,
        Task::Papers(arguments) => papers::run(&arguments)?,
        Task::Docs(arguments) => site::run(&arguments)?,
        Task::Dist(arguments) => dist::run(&arguments)?,
        Task::Bench(benchmark) => xtask_bench::run(&benchmark)?,
        Task::Jdks { versions, offline } => list_jdks(&versions, offline)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// `cargo xtask jdks`.
fn list_jdks(named: &[u32], offline: bool) -> Result<()> {
    let wanted = if named.is_empty() { &jdks::VERSIONS[..] } else { named };
    let fetch = if offline { jdks::Fetch::Never } else { jdks::Fetch::IfMissing };
    let mut absent = Vec::new();
    for jdks::Answer { version, jdk } in jdks::get(wanted, fetch)? {
        match jdk {
            Ok(jdk) => print_line(&format!(
                "{version}\t{}\t{}\t{}",
                jdk.home.display(),
                jdk.origin,
                jdk.full_version
            ))?,
            Err(reason) => {
                print_line(&format!("{version}\tabsent\t{reason:#}"))?;
                absent.push(version.to_string());
            }
        }
    }
    if !named.is_empty() && !absent.is_empty() {
        bail!("missing: JDK {}; see the reasons above", absent.join(", "));
    }
    Ok(())
}
