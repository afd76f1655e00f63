//! Builds of the fuzz targets, instrumented for libFuzzer, and their seeds.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use xtask_tools::workspace::{cargo_alone, executables, root};

/// Compiler flags for libFuzzer's counters; docs/internals/fuzzing.md explains them.
const FLAGS: &[&str] = &[
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=3",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-simplifycfg-branch-fold-threshold=0",
];

/// The names of all targets: each has a file.
///
/// # Errors
/// Fails if there are none.
pub fn names() -> Result<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("no targets in {}", folder.display()))? {
        let path = entry?.path();
        names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

/// Builds these targets; returns their programs.
///
/// # Errors
/// Fails if they do not compile.
pub fn programs(names: &[String]) -> Result<Vec<PathBuf>> {
    let mut build = cargo_alone();
    build.args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml"]);
    // With an explicit target, flags do not apply to programs that run during the build.
    build.args(["--target", &host()?, "--message-format", "json-render-diagnostics"]);
    build.args(names.iter().flat_map(|name| ["--bin", name]));
    // A stable compiler has these features, but must be told that it may use them.
    build.env("RUSTC_BOOTSTRAP", "1").env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1F"));
    build.stderr(Stdio::inherit());
    let output = build.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("the targets do not compile; see the errors above");
    }
    let built = executables(&String::from_utf8(output.stdout).context("cargo's messages")?);
    let program =
        |name: &String| built.iter().find(|path| path.file_name().is_some_and(|file| file == &**name));
    names.iter().map(|name| program(name).cloned().with_context(|| format!("{name} was not built"))).collect()
}

/// Writes the seeds of all targets; returns the folder.
///
/// # Errors
/// Fails if they cannot be created.
pub fn seeds() -> Result<PathBuf> {
    let corpora = root().join("fuzz/corpus");
    let mut run = cargo_alone();
    run.args(["run", "--quiet", "--package", "cct-hostile", "--example", "seeds"]).arg(&corpora);
    if !run.status().context("cargo cannot be started")?.success() {
        bail!("there are no seeds; see the errors above");
    }
    Ok(corpora)
}

/// rustc's name of this machine.
fn host() -> Result<String> {
    let said = xtask_tools::process::output(Command::new("rustc").arg("-vV"))?;
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say its host")?.to_owned())
}
