//! Where programs run: the rewritten class library of a JDK 8, or the image of a newer one, and for each program its jars, raw and rewritten.
//!
//! A program must not be able to tell the modes apart by the paths it sees. So whichever jars are in use lie in the folder `path`, and the
//! folder in which it runs is always `run`; afterwards they are renamed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use walkdir::WalkDir;

use super::Mode;
use super::catalogue::{CLASSES, INPUT, ORIGINAL, Program, SOURCES, TOOLS};
use super::jars;
use super::outcome::{Outcome, files, totals};
use super::packages::Fetched;
use crate::class_library::{boot_jars, extension_jars, jars_in};
use crate::jdks::{Jdk, tool};
use crate::process;
use crate::workspace::{self, Built};

/// Longer than any of them takes; a run that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The rewritten JDK, and room for programs.
pub struct Stage {
    version: u32,
    jdk: Jdk,
    cctrewrite: PathBuf,
    folder: PathBuf,
    profiled: ProfiledJdk,
}

/// A profiled JDK.
enum ProfiledJdk {
    /// Of a JDK 8, the class library.
    Library {
        /// The outputs made from its jars.
        outputs: Vec<PathBuf>,
        /// The options that put them in place.
        flags: Vec<String>,
    },
    /// Of a newer one, all of it: its home.
    Image(PathBuf),
}

impl Stage {
    /// Builds cctrewrite and profiles the JDK, which is of `version`, in cargo's target folder.
    ///
    /// # Errors
    /// If one of the steps fails.
    pub fn new(version: u32, jdk: Jdk) -> Result<Stage> {
        let Built { program: cctrewrite, target } = workspace::build_release(&jdk)?;
        let folder = target.join("programs").join(version.to_string());
        fs::create_dir_all(&folder)?;
        let profiled = if version == 8 {
            library(&cctrewrite, &jdk, &folder.join("jdk"))?
        } else {
            let image = folder.join("jdk");
            let mut make = Command::new(&cctrewrite);
            process::output(make.args(["jdk", "--link"]).arg(&jdk.home).arg("-o").arg(&image))?;
            ProfiledJdk::Image(image)
        };
        Ok(Stage { version, jdk, cctrewrite, folder, profiled })
    }

    /// The version of the JDK: 8, 17, ...
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Puts a program in place: its jars raw and rewritten, and what is compiled before.
    ///
    /// # Errors
    /// If one of the steps fails.
    pub fn prepare<'a>(&'a self, program: &'static Program, fetched: &Fetched) -> Result<Place<'a>> {
        let folder = self.folder.join(program.name);
        fresh(&folder)?;
        let place = Place { stage: self, program, folder, source: fetched.source.clone() };
        let raw = place.path_of(Mode::Plain);
        fs::create_dir(&raw)?;
        for name in self.jars(program) {
            let jar = if name == TOOLS {
                self.jdk.home.join("lib").join(name)
            } else {
                let found = fetched.jars.iter().find(|(of, _)| *of == name);
                found.map(|(_, jar)| jar.clone()).with_context(|| format!("{name} was not fetched"))?
            };
            jars::copy(&jar, &raw.join(name))?;
        }
        if program.arguments.iter().any(|argument| argument.contains(ORIGINAL)) {
            copy(&raw, &place.folder.join("original"))?;
        }
        place.before()?;
        let ProfiledJdk::Library { outputs, .. } = &self.profiled else { return Ok(place) };
        // Those that are in use only; a single input would be written to a file, so the output folder is there already.
        let inputs: Vec<PathBuf> = place.entries().into_iter().map(|entry| raw.join(entry)).collect();
        let rewritten = place.path_of(Mode::Offline);
        fs::create_dir(&rewritten)?;
        instrument(&self.cctrewrite, outputs, &inputs, &rewritten).context("its jars")?;
        Ok(place)
    }

    /// The jars of a program on this JDK.
    fn jars(&self, program: &Program) -> impl Iterator<Item = &'static str> {
        let all = self.version == 8;
        program.jars.iter().copied().filter(move |name| all || *name != TOOLS)
    }
}

/// The rewritten class library of a JDK 8, in the folder `into`.
fn library(cctrewrite: &Path, jdk: &Jdk, into: &Path) -> Result<ProfiledJdk> {
    let mut outputs = Vec::new();
    for (jars, output) in [(boot_jars(jdk), into.join("boot")), (extension_jars(jdk)?, into.join("ext"))] {
        fresh(&output)?;
        instrument(cctrewrite, &outputs, &jars, &output)?;
        outputs.extend(jars_in(&output)?);
    }
    let flags = process::output(Command::new(cctrewrite).arg("flags").args(&outputs))?;
    Ok(ProfiledJdk::Library { outputs, flags: flags.lines().map(unquoted).collect() })
}

/// Rewrites `inputs` into the folder `output`.
fn instrument(cctrewrite: &Path, library: &[PathBuf], inputs: &[PathBuf], output: &Path) -> Result<()> {
    let mut command = Command::new(cctrewrite);
    command.args(["instrument", "--quiet"]).args(inputs).arg("-o").arg(output);
    for jar in library {
        command.arg("--library").arg(jar);
    }
    process::output(&mut command).map(|_| ())
}

/// A program in its place.
pub struct Place<'a> {
    stage: &'a Stage,
    program: &'static Program,
    folder: PathBuf,
    source: Option<PathBuf>,
}

impl Place<'_> {
    /// Runs the program.
    ///
    /// # Errors
    /// If it cannot be started; how it ends is in the outcome.
    pub fn run(&self, mode: Mode) -> Result<Outcome> {
        let run = self.run_folder()?;
        let kept = self.path_of(mode);
        let path = self.folder.join("path");
        fs::rename(&kept, &path).with_context(|| format!("rename {}", kept.display()))?;
        let profile = self.folder.join(format!("{}.cct", mode.word()));
        let (home, flags) = match &self.stage.profiled {
            _ if mode == Mode::Plain => (&self.stage.jdk.home, &[][..]),
            ProfiledJdk::Library { flags, .. } => (&self.stage.jdk.home, &flags[..]),
            ProfiledJdk::Image(home) => (home, &[][..]),
        };
        let mut java = self.java(home, &path, &run);
        java.args(flags);
        if mode != Mode::Plain {
            java.arg(format!("-Dcctrewrite.out={}", profile.display()));
        }
        java.args(self.program.options).arg(self.program.main);
        for &argument in self.program.arguments {
            if argument == SOURCES {
                java.args(sources(&run)?);
            } else {
                java.arg(self.filled_in(argument));
            }
        }
        let [stdout, stderr] =
            ["stdout", "stderr"].map(|name| self.folder.join(format!("{}.{name}", mode.word())));
        java.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        let (exit, wall) = ended(&mut java)?;
        fs::rename(&path, &kept)?;
        let outcome = Outcome {
            exit,
            stdout: fs::read(stdout)?,
            stderr: fs::read(stderr)?,
            files: files(&run)?,
            wall,
            profile: (mode != Mode::Plain).then(|| totals(&profile)),
        };
        fs::rename(&run, self.folder.join(mode.word()))?;
        Ok(outcome)
    }

    /// Where the class path of a mode is kept while it is not in use.
    fn path_of(&self, mode: Mode) -> PathBuf {
        self.folder.join(if mode == Mode::Offline { "rewritten" } else { "raw" })
    }

    /// The names of the class path's entries.
    fn entries(&self) -> Vec<&'static str> {
        let classes = self.makes_classes().then_some("classes");
        classes.into_iter().chain(self.stage.jars(self.program)).collect()
    }

    /// A fresh folder with the program's input.
    fn run_folder(&self) -> Result<PathBuf> {
        let run = self.folder.join("run");
        fresh(&run)?;
        let fixtures = workspace::root().join("fixtures/programs");
        for input in self.program.input {
            let from = fixtures.join(input);
            let name = from.file_name().context("an input without a name")?;
            fs::copy(&from, run.join(name)).with_context(|| format!("copy {}", from.display()))?;
        }
        copy(&self.folder.join("input"), &run)?;
        if let Some(source) = &self.source {
            copy(source, &run.join("source"))?;
        }
        Ok(run)
    }

    /// `java` of a JDK in `run` with the class path below `path`.
    fn java(&self, home: &Path, path: &Path, run: &Path) -> Command {
        let mut java = tool(home, "java");
        let entries: Vec<String> =
            self.entries().iter().map(|entry| path.join(entry).display().to_string()).collect();
        java.current_dir(run).stdin(Stdio::null()).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        java.arg("-cp").arg(entries.join(":"));
        java
    }

    /// An argument with the folders that it names.
    fn filled_in(&self, argument: &str) -> String {
        let folders = [
            (ORIGINAL, self.folder.join("original")),
            (CLASSES, self.folder.join("raw/classes")),
            (INPUT, self.folder.join("input")),
            ("{jdk}", self.stage.jdk.home.clone()),
        ];
        folders.iter().fold(argument.to_owned(), |argument, (name, folder)| {
            argument.replace(name, &folder.display().to_string())
        })
    }

    /// Runs what is to be run before, on the plain JDK.
    fn before(&self) -> Result<()> {
        fs::create_dir(self.folder.join("input"))?;
        let Some(before) = &self.program.before else { return Ok(()) };
        let raw = self.path_of(Mode::Plain);
        if self.makes_classes() {
            fs::create_dir(raw.join("classes"))?;
        }
        let run = self.run_folder()?;
        let mut java = self.java(&self.stage.jdk.home, &raw, &run);
        java.args(self.program.options).arg(before.main);
        java.args(before.arguments.iter().map(|argument| self.filled_in(argument)));
        process::output(&mut java).map(|_| ())
    }

    fn makes_classes(&self) -> bool {
        self.program.before.is_some_and(|before| before.arguments.contains(&CLASSES))
    }
}

/// The Java sources below `source/src/main/java`, by name.
fn sources(run: &Path) -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for entry in WalkDir::new(run.join("source/src/main/java")) {
        let path = entry?.into_path();
        if path.extension().is_some_and(|extension| extension == "java") {
            sources.push(path.strip_prefix(run)?.to_owned());
        }
    }
    sources.sort();
    Ok(sources)
}

/// Runs a command to its end or the time limit; its exit code, none for a signal, and how long it took.
fn ended(command: &mut Command) -> Result<(Option<i32>, Duration)> {
    let started = Instant::now();
    let mut child = command.spawn().context("java cannot be started")?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), started.elapsed()));
        }
        if started.elapsed() > TIME_LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok((None, started.elapsed()));
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// An empty folder in place of whatever was there.
fn fresh(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("remove {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let to = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir_all(&to)?;
        } else {
            fs::copy(entry.path(), &to).with_context(|| format!("copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// An option as `cctrewrite flags` prints it, without the quotes for a shell.
fn unquoted(option: &str) -> String {
    let inner = option.strip_prefix('\'').and_then(|option| option.strip_suffix('\''));
    inner.map_or_else(|| option.to_owned(), |inner| inner.replace(r"'\''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_for_a_shell_are_taken_away() {
        assert_eq!(unquoted("-Da=b"), "-Da=b");
        assert_eq!(unquoted(r"'-Da=b '\''c'\'''"), "-Da=b 'c'");
    }

    #[test]
    fn a_run_has_an_end_and_a_time() {
        let (exit, wall) = ended(Command::new("sh").args(["-c", "sleep 0.05; exit 7"])).unwrap();
        assert_eq!(exit, Some(7));
        assert!(wall >= Duration::from_millis(50));
        let (exit, _) = ended(Command::new("sh").args(["-c", "kill -9 $$"])).unwrap();
        assert_eq!(exit, None);
    }
}
