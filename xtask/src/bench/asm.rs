//! ASM, the library most Java tools rewrite classes with, from Debian's packages; and our harness for it (`xtask/bench`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow};

use crate::cache::{self, Locked};
use crate::debian::{Archive, unpack};
use crate::jdks::{Jdk, tool};
use crate::process;
use crate::workspace;

/// The suite and the package.
const SUITE: &str = "sid";
const PACKAGE: &str = "libasm-java";

/// ASM and the compiled harness.
pub struct Asm {
    /// The version of the library: `9.8`.
    pub version: String,
    class_path: std::ffi::OsString,
}

/// What the harness is to do.
#[derive(Clone, Copy)]
pub enum Mode {
    /// Read, visit everything, write.
    Copy,
    /// About the work of cctrewrite.
    Transform,
}

/// What the harness says of one pass.
pub struct Pass {
    /// Its time in seconds, as the harness measured it.
    pub seconds: f64,
    /// Bytes of class files that it wrote.
    pub class_bytes: u64,
}

impl Asm {
    /// Fetches ASM if it is not in the cache folder, and compiles the harness into `work`.
    ///
    /// # Errors
    /// If there is no such package, or the harness does not compile.
    pub fn prepare(jdk: &Jdk, work: &Path) -> Result<Asm> {
        let library = library()?;
        // asm-9.8.jar
        let version =
            library.file_stem().and_then(|name| name.to_str()?.split('-').nth(1)).unwrap_or("unknown");
        let classes = work.join("asm-classes");
        fs::create_dir(&classes)?;
        let sources = workspace::root().join("xtask/bench");
        process::output(
            tool(&jdk.home, "javac")
                .arg("-cp")
                .arg(&library)
                .arg("-d")
                .arg(&classes)
                .args(["AsmRewrite.java", "AsmContexts.java"].map(|name| sources.join(name))),
        )?;
        let version = version.to_owned();
        Ok(Asm { version, class_path: std::env::join_paths([&classes, &library])? })
    }

    /// A call of the harness.
    pub fn command(&self, jdk: &Jdk, mode: Mode, from: &Path, to: &Path, passes: u32) -> Command {
        let mut java = tool(&jdk.home, "java");
        let mode = match mode {
            Mode::Copy => "copy",
            Mode::Transform => "transform",
        };
        java.arg("-cp")
            .arg(&self.class_path)
            .arg("AsmRewrite")
            .arg(mode)
            .arg(from)
            .arg(to)
            .arg(passes.to_string());
        java
    }
}

/// Reads what the harness printed: one line for each pass.
///
/// # Errors
/// If it is something else.
pub fn passes(output: &str) -> Result<Vec<Pass>> {
    let pass = |line: &str| {
        let mut words = line.split(' ');
        let seconds = words.next()?.parse().ok()?;
        let class_bytes = words.nth(1)?.parse().ok()?;
        Some(Pass { seconds, class_bytes })
    };
    output.lines().map(|line| pass(line).ok_or_else(|| anyhow!("the ASM harness said: {line}"))).collect()
}

/// The library in the cache folder; fetched if it is not there.
fn library() -> Result<PathBuf> {
    let store = Locked::take(cache::folder()?.join("asm"))?;
    let folder = store.folder().to_owned();
    if let Some(jar) = jar_in(&folder) {
        return Ok(jar);
    }
    let mut archive = Archive::of_this_machine(store)?;
    let work = archive.temporary_folder()?;
    let packages = archive.download(SUITE, &[PACKAGE])?;
    unpack(&packages, work.path())?;
    // The package has asm.jar as a link to the jar that is named after the version.
    let link = work.path().join("usr/share/java/asm.jar");
    let jar = fs::canonicalize(&link).with_context(|| format!("{PACKAGE} has no asm.jar"))?;
    let name = jar.file_name().context("asm.jar leads to no file")?;
    fs::rename(&jar, folder.join(name))?;
    jar_in(&folder).context("ASM has not arrived in the cache folder")
}

/// The jar in a folder.
fn jar_in(folder: &Path) -> Option<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().find(|path| path.extension().is_some_and(|extension| extension == "jar"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_harness_prints_is_read() {
        let passes = passes("1.5 100 101\n0.25 100 101\n").unwrap();
        assert_eq!(passes.len(), 2);
        assert_eq!((passes[1].seconds, passes[1].class_bytes), (0.25, 101));
        assert!(super::passes("Exception").is_err());
    }
}
