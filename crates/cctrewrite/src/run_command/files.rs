//! JVMs that leave a file other than a profile, which is moved to its place.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_build::image::fit;
use cct_build::image::fit::ToolOutput;
use cct_build::pending_file::PendingFile;

use super::execution::{Execution, execute};
use crate::args::Run;
use crate::exit::{Outcome, say};
use crate::run_folder::Jvm;

/// The kind of file that JVMs leave, and the words for messages about it.
pub struct Kind {
    /// The output that the image must be made for.
    pub leaves: ToolOutput,
    /// The extension of its files.
    pub extension: &'static str,
    /// The name of the image.
    pub jdk: &'static str,
    /// What a JVM without such a file did, and possible reasons.
    pub missing: &'static str,
}

/// The path for a JVM's file, by the JVM's main class if that is known.
pub type Place<'p> = &'p dyn Fn(Option<&str>) -> PathBuf;

/// Runs the command. The image must pass `check`, and `put` moves each file to its place.
pub fn run(
    arguments: &Run,
    command: &OsStr,
    rest: &[OsString],
    kind: &Kind,
    check: impl FnOnce(&Path) -> Result<()>,
    put: impl Fn(&Path, Place<'_>) -> Result<()>,
) -> Result<Outcome> {
    let output = if arguments.output == Path::new("cctrewrite.cct") {
        Path::new("cctrewrite").with_extension(kind.extension)
    } else {
        arguments.output.clone()
    };
    if output.is_dir() {
        bail!("{} is a folder; name a file", output.display());
    }
    let check = |home: &Path| {
        fit::check_tool(home, kind.leaves)?;
        fit::check_choices(home, arguments.choices.get())?;
        check(home)
    };
    let mut ended = match execute(arguments, command, rest, &output, check)? {
        Execution::Ended(ended) => ended,
        Execution::NotStarted(outcome) => return Ok(outcome),
    };
    let jvms = ended.jvms()?;
    if jvms.is_empty() {
        ended.say_no_jvm(kind.jdk);
    }
    let left = left(&jvms, kind);
    let missing = left.len() < jvms.len() || jvms.is_empty();
    ended.or_keep(|_| deliver(&left, &output, kind, put))?;
    Ok(ended.outcome(missing))
}

/// The JVMs that have left a file. Reports the others on standard error.
fn left<'j>(jvms: &'j [Jvm], kind: &Kind) -> Vec<(&'j Jvm, PathBuf)> {
    let mut left = Vec::new();
    for jvm in jvms {
        let file = with_suffix(&jvm.place, &format!(".{}", kind.extension));
        if file.is_file() {
            left.push((jvm, file))
        } else {
            say(&format!(
                "cctrewrite: the JVM of process {} {}: {}",
                jvm.process,
                kind.missing,
                jvm.command()
            ))
        }
    }
    left
}

/// Moves the file of a single JVM to the output, or files of several JVMs into a folder beside it.
fn deliver(
    left: &[(&Jvm, PathBuf)],
    output: &Path,
    kind: &Kind,
    put: impl Fn(&Path, Place<'_>) -> Result<()>,
) -> Result<()> {
    let folder = output.with_extension("jvms");
    if left.len() > 1 {
        cct_private::create_folders(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    for (jvm, from) in left {
        let place = |main: Option<&str>| match left.len() {
            1 => output.to_owned(),
            count => {
                let name = file_name(jvm.number, count, main.unwrap_or(UNKNOWN));
                folder.join(name).with_extension(kind.extension)
            }
        };
        put(from, &place)?;
    }
    Ok(())
}

/// A path with a suffix appended.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Renames the profile of an earlier run, as perf(1) does: `run.cct` becomes `run.cct.old`, and
/// replaces the one before it. Returns the new name; `None` if there is no earlier profile.
pub fn keep_earlier(path: &Path) -> Result<Option<PathBuf>> {
    if !path.symlink_metadata().is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let old = with_suffix(path, ".old");
    fs::rename(path, &old)
        .with_context(|| format!("cannot rename {} to {}", path.display(), old.display()))?;
    Ok(Some(old))
}

/// Moves a JVM's file to its place, or copies it if the place is on another file system.
pub fn move_file(from: &Path, to: &Path) -> Result<()> {
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let mut file = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    Ok(PendingFile::write_profile(to, |out| io::copy(&mut file, out).map(drop))?.commit()?)
}

/// The main class that a profile names if its JVM had none, as for `java -version`.
pub const UNKNOWN: &str = "unknown";

/// The name for the file of one of several JVMs. It has the JVM's number, so that names sort by
/// start, and the simple name of the main class.
pub fn file_name(number: usize, count: usize, main: &str) -> String {
    let width = count.to_string().len();
    let simple = main.rsplit(['/', '.']).find(|part| !part.is_empty() && *part != "jar").unwrap_or("");
    let simple = if main == UNKNOWN { "" } else { simple };
    let plain: String = simple
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    if plain.is_empty() { format!("{number:0width$}.cct") } else { format!("{number:0width$}-{plain}.cct") }
}
