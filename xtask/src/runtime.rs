//! `cargo xtask runtime`: recompiles the runtime's class files from their sources
//! (docs/internals/runtime.md).

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use cct_runtime_sources::{GROUPS, RECORD, RELEASE, Record, compile, files_below, version};
use xtask_tools::jdks::{self, Fetch};
use xtask_tools::print::print_line;
use xtask_tools::workspace::root;

/// Options of `cargo xtask runtime`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Download nothing.
    #[arg(long)]
    offline: bool,
}

/// Compiles the sources, and replaces class files and record.
///
/// # Errors
/// Fails if the JDK is missing, or rejects a source.
pub fn run(arguments: &Arguments) -> Result<()> {
    let fetch = if arguments.offline { Fetch::Never } else { Fetch::IfMissing };
    let mut answers = jdks::get(&[RELEASE], fetch)?;
    let javac = answers.pop().context("the compiler's JDK")?.jdk?.home.join("bin/javac");
    let compiler = version(&javac)?;
    if !compiler.starts_with(&format!("javac 1.{RELEASE}.")) {
        bail!("{} is {compiler}, and no javac of JDK {RELEASE}", javac.display());
    }
    let jdk_wrap = root().join("jdk-wrap");
    let scratch = tempfile::tempdir().context("a temporary folder")?;
    let made = compile(&javac, &jdk_wrap, scratch.path())?;
    let place = jdk_wrap.join("classes");
    let mut record = Record::of(compiler, &jdk_wrap, &made)?;
    // Another update of the same release, the same class files: the first compiler stays in the
    // record.
    if let Some(before) = Record::read(&place).ok().filter(|before| before.classes == record.classes) {
        record.compiler = before.compiler;
    }
    let changed = put(&made, &place)?;
    // Last: after an interruption the class files are rejected.
    let path = place.join(RECORD);
    fs::write(&path, record.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
    let all = files_below(&made)?.len();
    print_line(&format!("{all} class files by {}, {changed} of them changed or new", record.compiler))
}

/// Replaces folders of class files; returns how many files changed or are new.
fn put(made: &Path, place: &Path) -> Result<usize> {
    let mut changed = 0;
    for group in GROUPS {
        let (from, to) = (made.join(group), place.join(group));
        let mut files = Vec::new();
        for file in files_below(&from)? {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let target = to.join(file.strip_prefix(&from)?);
            changed += usize::from(fs::read(&target).ok().as_ref() != Some(&bytes));
            files.push((target, bytes));
        }
        if to.exists() {
            fs::remove_dir_all(&to).with_context(|| format!("cannot remove {}", to.display()))?;
        }
        for (target, bytes) in files {
            let written =
                target.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&target, bytes));
            written.with_context(|| format!("cannot write {}", target.display()))?;
        }
    }
    Ok(changed)
}
