//! Release build of the command and its libraries, for packages.
//!
//! Symbols are stripped and this machine's paths are removed. The libraries are files beside the
//! command, not embedded in it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use xtask_tools::paths;
use xtask_tools::workspace::{cargo_alone, root, target_folder};

use super::date;
use super::glibc::Version;
use super::zig::Zig;

/// The oldest supported glibc: that of Debian 10, RHEL 8 and Ubuntu 18.10.
pub const GLIBC: Version = Version { major: 2, minor: 28 };

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Name of the command: of its package and of its file.
const COMMAND: &str = "cctrewrite";

/// File names of the libraries that are installed with the command.
pub const LIBRARIES: [&str; 3] =
    ["libcctrewrite_loadtime.so", "libcctrewrite_prefix.so", "libcctrewrite_vm.so"];

/// The linker of the command and its libraries.
pub enum Linker {
    /// Zig, which links against [`GLIBC`].
    Zig(Zig),
    /// This machine's linker, which links against this machine's glibc.
    Native,
}

impl Linker {
    /// Whether the built files run with [`GLIBC`].
    pub fn is_portable(&self) -> bool {
        matches!(self, Linker::Zig(_))
    }
}

/// The built files.
pub struct Binaries {
    /// The command.
    pub command: PathBuf,
    /// The libraries, in the order of [`LIBRARIES`].
    pub libraries: Vec<PathBuf>,
    /// The folder of Zig's own files; `None` if Zig was not the linker. The built files contain
    /// parts of Zig's runtime, so packages need its licences.
    pub zig: Option<PathBuf>,
}

impl Binaries {
    /// The command and its libraries.
    pub fn all(&self) -> Vec<&Path> {
        [&self.command].into_iter().chain(&self.libraries).map(PathBuf::as_path).collect()
    }
}

/// Builds the command and its libraries. Cargo shows its progress on standard error.
///
/// # Errors
/// Fails if something does not compile, or if cargo does not create one of the files.
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
    // Nobody debugs packages, so they contain neither debug information nor names of functions.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    for package in ["cct-loadtime", "cct-prefix", "cct-vm"] {
        cargo.arg("--config").arg(format!("profile.release.package.{package}.strip=\"symbols\""));
    }
    // C code gets a fixed time instead of that of the packages: Zig's cache ignores the variable
    // and would return objects that contain the time of an earlier build.
    cargo.env(date::VARIABLE, date::OF_COMPILERS.to_string());
    // The user's flags would replace those that `paths::forget` sets.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    paths::forget(&mut cargo, &root(), &target);
    let status = cargo.stdout(Stdio::inherit()).stderr(Stdio::inherit()).status();
    ensure!(status.context("cargo cannot be started")?.success(), "cctrewrite does not compile for packages");

    let folder = target.join(TARGET).join("release");
    // Cargo writes the libraries of dependencies only to the folder `deps`.
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

/// Makes cargo find `cargo-zigbuild`, and `cargo-zigbuild` find Zig.
fn use_zig(cargo: &mut Command, zig: &Zig) -> Result<()> {
    let path = env::var_os("PATH").unwrap_or_default();
    let path: OsString = env::join_paths([zig.bin()].into_iter().chain(env::split_paths(&path)))?;
    cargo.env("PATH", path);
    cargo.env("CARGO_ZIGBUILD_ZIG_PATH", zig.home()?.join("zig"));
    fs::create_dir_all(zig.cache()).with_context(|| format!("make {}", zig.cache().display()))?;
    cargo.env("CARGO_ZIGBUILD_CACHE_DIR", zig.cache()).env("ZIG_GLOBAL_CACHE_DIR", zig.cache());
    Ok(())
}
