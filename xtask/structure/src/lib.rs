//! The order of crates and modules, read from the sources: the uses between files of a crate, their
//! circles, and the dependencies between crates.
//!
//! 1. [`packages`] reads the manifests of the workspace.
//! 2. [`source`] reads the modules of a crate: items, imports, and the paths in code. Test code is
//!    skipped.
//! 3. [`resolve`] follows each path to the file that defines its target, through re-exports and
//!    globs.
//! 4. [`circles`] finds the files that depend on each other.
//! 5. [`expected`] is the list of what is allowed: layers of crates, and circles with their
//!    reasons.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod circles;
mod error;
mod expected;
mod packages;
pub mod pages;
mod resolve;
mod source;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::Error;
pub use expected::EXPECTATIONS;

use circles::{Circle, circles};
use error::Result;
use expected::Expectations;
use packages::Package;
use resolve::uses;
use source::Sources;

/// Checks the workspace in a folder, and returns the violations, a paragraph each. Empty if there
/// are none.
///
/// # Errors
/// Fails if the sources cannot be read.
pub fn check(root: &Path) -> Result<Vec<String>> {
    let packages = packages::of_workspace(root)?;
    let expected = Expectations::read(&root.join(EXPECTATIONS))?;
    let mut findings = expected.misplaced(&packages);
    let mut found = Vec::new();
    for package in &packages {
        found.extend(circles_of(root, package)?);
    }
    for circle in &found {
        if !expected.knows(circle) {
            findings.push(circle.to_string());
        }
    }
    findings.extend(expected.gone(&found));
    Ok(findings)
}

/// The circles of a package's files.
fn circles_of(root: &Path, package: &Package) -> Result<Vec<Circle>> {
    let mut found = Vec::new();
    for crate_root in &package.roots {
        let sources = Sources::read(root, crate_root)?;
        found.extend(circles(&sources.files, &uses(&sources)));
    }
    Ok(found)
}
