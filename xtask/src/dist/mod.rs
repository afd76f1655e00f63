//! `cargo xtask dist`: packages of the command for Linux on x86-64 (docs/internals/packaging.md).
//!
//! 1. [`zig`] gets a linker for an old C library. [`build`] builds the command and its libraries.
//!    [`glibc`] reads the version of the C library that they need.
//! 2. [`linked_crates`] lists the crates in them. [`licences`] collects their licences. [`sbom`]
//!    writes the bill of materials.
//! 3. [`contents`] builds the tree of installed files, of type [`tree`]. [`packages`] has the paths
//!    of the packages.
//! 4. [`archive`], [`deb`] and [`oci`] write the tree in their formats. [`maintainer`] decides who
//!    maintains the Debian package. [`checksums`] writes the hashes.
//! 5. [`check`] installs each package in a clean root, profiles a program there, and removes the
//!    package.

mod archive;
mod build;
mod check;
mod checksums;
mod contents;
mod date;
mod deb;
mod glibc;
mod licences;
mod linked_crates;
mod maintainer;
mod oci;
mod packages;
mod sbom;
mod tree;
mod zig;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use clap::Args;
use xtask_tools::jdks::Fetch;
use xtask_tools::print::print_line;

use build::{Binaries, Linker};
use contents::{Layout, Product};
use date::SourceDate;
use deb::Facts;
use linked_crates::LinkedCrates;
use maintainer::Maintainer;
use packages::{FULL_NAME, Packages};

/// Options of `cargo xtask dist`.
#[derive(Args)]
pub struct Arguments {
    /// Test each package: install it in a clean root that has only a JDK, profile a program there,
    /// and remove it. Needs root permissions, Debian's mirror and some minutes.
    #[arg(long)]
    check: bool,
    /// Link against this machine's C library [default: glibc 2.28, with zig from PyPI]
    #[arg(long)]
    native: bool,
    /// Download nothing.
    #[arg(long)]
    offline: bool,
    /// Build nothing; test the packages of an earlier run.
    #[arg(long, requires = "check")]
    no_build: bool,
    /// The Debian package's maintainer, as NAME <ADDRESS> [default: $DEBFULLNAME <$DEBEMAIL>, else
    /// the author of the last commit]
    #[arg(long, value_name = "MAINTAINER")]
    maintainer: Option<Maintainer>,
}

/// Runs the task.
///
/// # Errors
/// Fails if something does not compile, or if a check fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let packages = Packages::of_target();
    if !arguments.no_build {
        let linker = linker(arguments, fetch);
        let binaries = build::build(&linker, arguments.offline)?;
        let needed = glibc::needed_by_all(&binaries.all())?;
        print_line(&format!("needs glibc {needed} or later"))?;
        if linker.is_portable() {
            glibc::check(needed, build::GLIBC)?;
        }
        let maintainer = Maintainer::get(arguments.maintainer.as_ref())?;
        make(&packages, binaries, Facts { glibc: needed, date: SourceDate::get()?, maintainer })?;
    }
    if arguments.check {
        check::run(&packages, fetch)?;
    }
    Ok(())
}

/// Zig. If it is not available, prints a warning and returns this machine's linker.
fn linker(arguments: &Arguments, fetch: Fetch) -> Linker {
    if arguments.native {
        return Linker::Native;
    }
    match zig::get(fetch) {
        Ok(zig) => Linker::Zig(zig),
        Err(error) => {
            eprintln!(
                "warning: zig is not available ({error:#}); linking against this machine's C library, so the packages need this glibc version or a later one"
            );
            Linker::Native
        }
    }
}

/// Writes all packages.
fn make(packages: &Packages, binaries: Binaries, facts: Facts) -> Result<()> {
    let date = facts.date;
    let linked = LinkedCrates::list()?;
    let sbom = sbom::json(&linked, date)?;
    let licences = licences::text(&linked, binaries.zig.as_deref())?;
    let product = Product::of(binaries, licences, sbom.clone())?;
    if packages.folder.exists() {
        fs::remove_dir_all(&packages.folder)
            .with_context(|| format!("cannot remove {}", packages.folder.display()))?;
    }
    fs::create_dir_all(&packages.folder)
        .with_context(|| format!("cannot create {}", packages.folder.display()))?;

    let tarball = archive::tar(&product.tree(Layout::Tarball)?, FULL_NAME, date)?;
    write(&packages.tarball(), &archive::gzip(&tarball)?)?;
    deb::write(&product, &facts, &packages.deb())?;
    write(&packages.oci(), &oci::layout(&product.tree(Layout::Container)?, date)?)?;
    write(&packages.sbom(), sbom.as_bytes())?;
    let files = [packages.tarball(), packages.deb(), packages.oci(), packages.sbom()];
    let sums = checksums::of_files(&files)?;
    write(&packages.folder.join(checksums::NAME), sums.as_bytes())?;
    for file in &files {
        let size = fs::metadata(file)?.len();
        print_line(&format!("{:>12} bytes  {}", size, file.display()))?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
