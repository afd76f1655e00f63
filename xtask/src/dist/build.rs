//! The command and its libraries, built for packages: stripped, without the libraries inside the
//! command, and without paths of this machine.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use super::date;
use super::glibc::Version;
use super::zig::Zig;
use crate::paths;
use crate::workspace::{cargo_alone, root, target_folder};

/// The oldest glibc on which the packages run: that of Debian 10, RHEL 8 and Ubuntu 18.10.
pub const GLIBC: Version = Version { major: 2, minor: 28 };

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The command.
const COMMAND: &str = "cctrewrite";

/// The libraries that the command needs.
pub const LIBRARIES: [&str; 3] =
    ["libcctrewrite_loadtime.so", "libcctrewrite_prefix.so", "libcctrewrite_vm.so"];

/// What links the programs.
pub enum Linker {
    /// Zig, against [`GLIBC`].
    Zig(Zig),
    /// This machine's, against its own glibc.
    Native,
}

impl Linker {
    /// Whether the result runs with [`GLIBC`].
    pub fn is_portable(&self) -> bool {
        matches!(self, Linker::Zig(_))
    }
}

/// What was built.
pub struct Binaries {
    /// The command.
    pub command: PathBuf,
    /// Its libraries, in the order of [`LIBRARIES`].
    pub libraries: Vec<PathBuf>,
    /// Zig's own files, if it linked parts of them into these.
    pub zig: Option<PathBuf>,
}

impl Binaries {
    /// All files.
    pub fn all(&self) -> Vec<&Path> {
        [&self.command].into_iter().chain(&self.libraries).map(PathBuf::as_path).collect()
    }
}

/// Builds them; cargo shows its progress on standard error.
///
/// # Errors
/// If something does not compile.
pub fn build(linker: &Linker, offline: bool) -> Result<Binaries> {
    let target = target_folder().join("dist-build");
    let mut cargo = cargo_alone();
    match linker {
        Linker::Zig(zig) => {
            cargo.args(["zigbuild", "--target", &format!("{TARGET}.{GLIBC}")]);
            use_zig(&mut cargo, zig)?;
        }
        Linker::Native => {
            cargo.args(["build", "--target", TARGET]);
        }
    }
    cargo.args(["--release", "--locked", "--package", COMMAND, "--no-default-features"]);
    cargo.arg("--target-dir").arg(&target);
    if offline {
        cargo.arg("--offline");
    }
    // Packages are not debugged; the names of functions go, too.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    for package in ["cct-loadtime", "cct-prefix", "cct-vm"] {
        cargo.arg("--config").arg(format!("profile.release.package.{package}.strip=\"symbols\""));
    }
    // The time in C code is not that of the packages: Zig keeps objects that it compiled with
    // another one.
    cargo.env(date::VARIABLE, date::OF_COMPILERS.to_string());
    // Flags that are not the project's own.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    paths::forget(&mut cargo, &root(), &target);
    let status = cargo.stdout(Stdio::inherit()).stderr(Stdio::inherit()).status();
    ensure!(status.context("cargo cannot be started")?.success(), "cctrewrite does not compile for packages");

    let folder = target.join(TARGET).join("release");
    // Cargo leaves the libraries of dependencies in `deps` alone.
    let libraries: Vec<PathBuf> = LIBRARIES.iter().map(|name| folder.join("deps").join(name)).collect();
    let zig = match linker {
        Linker::Zig(zig) => Some(zig.home()?),
        Linker::Native => None,
    };
    let binaries = Binaries { command: folder.join(COMMAND), libraries, zig };
    for path in binaries.all() {
        ensure!(path.is_file(), "cargo built no {}", path.display());
    }
    Ok(binaries)
}

/// Has cargo find `cargo-zigbuild`, and that find Zig.
fn use_zig(cargo: &mut Command, zig: &Zig) -> Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let path: OsString = env::join_paths([zig.bin()].into_iter().chain(env::split_paths(&path)))?;
    cargo.env("PATH", path);
    cargo.env("CARGO_ZIGBUILD_ZIG_PATH", zig.home()?.join("zig"));
    fs::create_dir_all(zig.cache()).with_context(|| format!("make {}", zig.cache().display()))?;
    cargo.env("CARGO_ZIGBUILD_CACHE_DIR", zig.cache()).env("ZIG_GLOBAL_CACHE_DIR", zig.cache());
    Ok(())
}
