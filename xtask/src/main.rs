//! The developer's one door: `cargo xtask <command>`.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

mod cache;
mod jdks;
mod process;

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::{Parser, Subcommand};

/// Tasks for those who work on cctrewrite.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Find the JDKs that the tests use, or fetch them into the cache folder (docs/jdks.md).
    ///
    /// Prints one line per version: version, home, where it came from, full version; for a version
    /// that is not to be had, the reason.
    Jdks {
        /// The versions wanted, for instance `8 21`; a version named here must be had, or the task
        /// fails. Without any: all that the tests use.
        #[arg(value_name = "VERSION", value_parser = jdks::supported)]
        versions: Vec<u32>,
        /// Only look; download nothing.
        #[arg(long)]
        offline: bool,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().task {
        Task::Jdks { versions, offline } => list_jdks(&versions, offline),
    }
}

/// `cargo xtask jdks`.
fn list_jdks(named: &[u32], offline: bool) -> Result<()> {
    let wanted = if named.is_empty() { &jdks::VERSIONS[..] } else { named };
    let fetch = if offline { jdks::Fetch::Never } else { jdks::Fetch::IfMissing };
    let mut absent = Vec::new();
    let mut out = std::io::stdout().lock();
    for jdks::Answer { version, jdk } in jdks::get(wanted, fetch)? {
        match jdk {
            Ok(jdk) => {
                writeln!(out, "{version}\t{}\t{}\t{}", jdk.home.display(), jdk.origin, jdk.full_version)?;
            }
            Err(reason) => {
                writeln!(out, "{version}\tabsent\t{reason:#}")?;
                absent.push(version.to_string());
            }
        }
    }
    if !named.is_empty() && !absent.is_empty() {
        bail!("not to be had: JDK {}; the reasons stand above", absent.join(", "));
    }
    Ok(())
}
