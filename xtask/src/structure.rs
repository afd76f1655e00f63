//! `cargo xtask structure`: the order of crates and modules.

use std::process::ExitCode;

use anyhow::Result;
use xtask_tools::print::print_line;
use xtask_tools::workspace::root;

/// Prints violations; the exit code says whether there are any.
///
/// # Errors
/// Fails if the sources cannot be read.
pub fn run() -> Result<ExitCode> {
    let findings = structure::check(&root())?;
    findings.iter().try_for_each(|finding| print_line(finding))?;
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
