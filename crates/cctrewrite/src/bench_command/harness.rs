//! Runs an entry in a JVM of its own: the command's side of `cctrewrite.bench.Harness`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cct_build::image::jvm::FROM_OUTSIDE;
use cct_build::pending_file::PendingFile;
use cct_build::temporary_folder::{Kind, TemporaryFolder};
use cct_profile::Profile;

use super::entry::Entry;
use crate::exit::ProgramFailed;
use crate::profile_file::View;

/// Exit codes of the harness.
const DONE: i32 = 97;
const FAILED: i32 = 98;
const UNKNOWN: i32 = 99;

/// An environment variable whose value has another length in each run, so that counts that depend
/// on the environment differ.
const RUN_VARIABLE: &str = "CCTREWRITE_BENCH_RUN";

/// A profiled JDK, and a folder for the harness's classes and for profiles.
#[derive(Debug)]
pub struct Harness<'a> {
    image: PathBuf,
    class_path: OsString,
    options: &'a [OsString],
    warm_up: u16,
    view: View,
    place: TemporaryFolder,
}

impl<'a> Harness<'a> {
    /// A harness for a program with this class path. `view` is the part of its profiles to compare.
    pub fn new(
        image: PathBuf,
        program: &OsStr,
        options: &'a [OsString],
        warm_up: u16,
        view: View,
    ) -> Result<Harness<'a>> {
        // A killed `bench` leaves its folder, and perhaps a JVM that works with it. The next
        // `bench` removes the folder when no JVM works with it any more.
        let parent = std::env::temp_dir();
        let cannot = || format!("cannot make a folder in {}; set TMPDIR to another one", parent.display());
        let place = TemporaryFolder::make(&parent, Kind::Bench).with_context(cannot)?;
        place.share().with_context(cannot)?;
        let classes = place.path().join("classes");
        for (name, bytes) in jdk_wrap::api().iter().chain(jdk_wrap::harness()) {
            let file = classes.join(format!("{name}.class"));
            let cannot = || format!("cannot write {}", file.display());
            cct_private::create_folders(file.parent().unwrap_or(&classes)).with_context(cannot)?;
            cct_private::write(&file, bytes).with_context(cannot)?;
        }
        // The program's classes come first, as without the harness.
        let mut class_path = program.to_os_string();
        class_path.push(":");
        class_path.push(&classes);
        Ok(Harness { image, class_path, options, warm_up, view, place })
    }

    /// Runs an entry. Returns the profile of its recorded run, and the file with this profile,
    /// which the next run overwrites. `run` is the number of the run, from 0.
    pub fn run(&self, entry: &Entry, run: u16) -> Result<(Profile, PathBuf)> {
        let file = self.place.path().join("run.cct");
        let mut java = Command::new(self.image.join("bin/java"));
        for variable in FROM_OUTSIDE {
            java.env_remove(variable);
        }
        java.env_remove(cct_profile::collection::VARIABLE);
        java.env(RUN_VARIABLE, "1".repeat(usize::from(run) + 1));
        java.args(self.options).arg("-cp").arg(&self.class_path);
        let mut out = OsString::from("-Dcctrewrite.out=");
        out.push(&file);
        java.arg(out).arg("-Dcctrewrite.record=regions").arg("cctrewrite.bench.Harness");
        java.arg(self.warm_up.to_string()).args(entry.harness_arguments());
        let output = java.stdin(Stdio::null()).stdout(Stdio::null()).output();
        let output = output.with_context(|| format!("{}: cannot be started", self.image.display()))?;
        let said = said(&output.stderr);
        let what = match output.status.code() {
            Some(DONE) => None,
            Some(FAILED) => Some(format!("{entry} threw an exception:")),
            Some(UNKNOWN) => bail!("{entry} cannot be run: {said}"),
            Some(code) => Some(format!("{entry} ended the JVM, with exit code {code}:")),
            None => Some(format!("{entry}: the JVM was killed ({}):", output.status)),
        };
        if let Some(what) = what {
            bail!(ProgramFailed { what, said });
        }
        let profile = fs::read(&file).with_context(|| format!("{entry}: the JVM wrote no profile"))?;
        let profile = Profile::read(&profile).with_context(|| format!("{entry}: the profile"))?;
        // Calls are compared, with bytecodes or the chosen column.
        Ok((self.view.shown(profile).with_context(|| entry.to_string())?.without_columns(), file))
    }

    /// Copies the profile of the last run into a folder.
    pub fn keep(&self, file: &Path, folder: &Path, entry: &Entry) -> Result<()> {
        cct_private::create_folders(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let to = folder.join(entry.file_name());
        Ok(PendingFile::write_profile(&to, |out| out.write_all(&bytes))?.commit()?)
    }
}

/// The program's standard error, without the runtime's lines, which warn that nothing was recorded.
fn said(stderr: &[u8]) -> String {
    let lines = cct_build::text::readable_lines(stderr);
    let lines: Vec<&str> = lines.lines().filter(|line| !line.starts_with("cctrewrite: ")).collect();
    lines.join("\n")
}
