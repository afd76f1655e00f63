//! `cargo xtask dist --check`: each package installed in a clean root that has only a JDK, used
//! there, and removed.
//!
//! [`root`] creates the roots and runs commands in them. [`setting`] holds the inputs of trials.
//! [`trials`] has the steps for each package. [`table`] prints the results.

mod root;
mod setting;
mod table;
mod trials;

use anyhow::{Context as _, Result, ensure};
use xtask_programs::packages::Packages as Jars;
use xtask_tools::jdks::Fetch;

use super::packages::Packages;
use root::Roots;
use setting::Setting;
use table::Row;

/// Runs all trials and prints their results as a table.
///
/// # Errors
/// Fails if a trial fails, or if the roots cannot be created.
pub fn run(packages: &Packages, fetch: Fetch) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "the check mounts and changes roots; run it as root");
    for package in [packages.tarball(), packages.deb(), packages.oci()] {
        ensure!(package.is_file(), "{} is not there; run `cargo xtask dist` first", package.display());
    }
    let jars = Jars::new(fetch)?.find("bookworm", &["librhino-java"], &["js.jar"])?;
    let (_, jar) = jars.jars.into_iter().next().context("Rhino has no jar")?;
    let roots = Roots::get(fetch)?;
    let setting = Setting { packages, roots: &roots, jar };
    let mut rows: Vec<Row> = Vec::new();
    for root in roots.clean() {
        rows.push(trials::tarball(&setting, root)?);
        rows.push(trials::debian_package(&setting, root)?);
    }
    rows.push(trials::container(&setting)?);
    rows.push(trials::cargo_install(&setting)?);
    trials::linted(&setting)?;
    table::print(&rows)
}
