//! The place in which a program runs: its jars, raw and rewritten, and its input.
//!
//! A program must not be able to distinguish its modes by the paths that it sees. So the jars in
//! use are always in the folder `path`, and the program always runs in the folder `run`; afterwards
//! these are renamed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use walkdir::WalkDir;
use xtask_tools::jdks::{Jdk, tool};
use xtask_tools::process;
use xtask_tools::watch::{self, Limits, ProcessEnd};
use xtask_tools::workspace;

use super::jars;
use super::maven::CENTRAL;
use super::outcome::{Outcome, files};
use super::packages::ProgramFiles;
use super::program::{CLASS_PATH, CLASSES, INPUT, JAVAC, ORIGINAL, PATH, Program, SOURCES, TOOLS};

/// A program in its place.
pub struct Place {
    program: Program,
    version: u32,
    jdk: PathBuf,
    folder: PathBuf,
    source: Option<PathBuf>,
}

/// The folder of its unchanged jars.
pub const RAW: &str = "raw";
/// The folder of the jars from [`Place::rewrite`].
pub const REWRITTEN: &str = "rewritten";

/// Options of a run.
pub struct Start<'a> {
    /// The folder for the files of the run.
    pub name: &'a str,
    /// The home of the JDK.
    pub home: &'a Path,
    /// A program with its arguments that starts the JVM, such as `cctrewrite run --`; empty to
    /// start it directly.
    pub through: &'a [OsString],
    /// Options for the JVM, before the program's own.
    pub options: &'a [String],
    /// The jars: [`RAW`], or those from [`Place::rewrite`] or [`Place::mark`].
    pub jars: &'a str,
    /// The limits of the run.
    pub limits: Limits,
}

impl Place {
    /// Prepares a program in the folder `folder`: its unchanged jars, and the output of the program
    /// that runs before, on `jdk`, which is of `version`.
    ///
    /// # Errors
    /// Fails if one of the steps fails.
    pub fn prepare(
        program: Program,
        version: u32,
        jdk: &Jdk,
        folder: &Path,
        fetched: &ProgramFiles,
    ) -> Result<Place> {
        fresh(folder)?;
        let place = Place {
            program,
            version,
            jdk: jdk.home.clone(),
            folder: folder.to_owned(),
            source: fetched.source.clone(),
        };
        let raw = place.folder.join(RAW);
        fs::create_dir(&raw)?;
        for name in place.jars() {
            let jar = if name == TOOLS {
                jdk.home.join("lib").join(name)
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
        Ok(place)
    }

    /// Rewrites the class path, with `library`: the outputs of the class library, or the home of an
    /// image.
    ///
    /// # Errors
    /// Fails if `cctrewrite` fails.
    pub fn rewrite(&self, cctrewrite: &Path, library: &[PathBuf]) -> Result<()> {
        let rewritten = self.folder.join(REWRITTEN);
        fs::create_dir(&rewritten)?;
        instrument(cctrewrite, library, &self.inputs(), &rewritten).context("its jars")
    }

    /// Places markers in the class path, by rules or properties as on a command line; the resulting
    /// jars are in a folder of this name. Returns the necessary JVM options.
    ///
    /// # Errors
    /// Fails if `cctrewrite` fails.
    pub fn mark(&self, cctrewrite: &Path, rules: &[&str], name: &str) -> Result<Vec<String>> {
        let marked = self.folder.join(name);
        fresh(&marked)?;
        let mut command = Command::new(cctrewrite);
        command.args(["instrument", "--quiet", "--tool", "markers"]).args(rules);
        process::output(command.args(self.inputs()).arg("-o").arg(&marked)).context("its jars")?;
        let mut flags = Command::new(cctrewrite);
        flags.args(["flags", "--fast"]).args(self.entries().iter().map(|entry| marked.join(entry)));
        // The folder has another name while it is in use.
        let (kept, used) = (marked.display().to_string(), self.folder.join("path").display().to_string());
        let flags = process::output(&mut flags)?;
        Ok(flags.lines().map(|flag| flag.replace(&kept, &used)).collect())
    }

    /// The entries of the class path that are in use. The output folder must exist already:
    /// otherwise a single input would be written to a file.
    fn inputs(&self) -> Vec<PathBuf> {
        self.entries().into_iter().map(|entry| self.folder.join(RAW).join(entry)).collect()
    }

    /// The folder of all files of the program.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether any of it is on the class path; false if it is all the JDK's.
    pub fn has_classes(&self) -> bool {
        !self.entries().is_empty()
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs the program.
    ///
    /// # Errors
    /// Fails if it cannot be started; the outcome has its end.
    pub fn run(&self, start: &Start) -> Result<Outcome> {
        let Start { name, home, through, options, jars, limits } = *start;
        let run = self.run_folder()?;
        let kept = self.folder.join(jars);
        let path = self.folder.join("path");
        fs::rename(&kept, &path).with_context(|| format!("rename {}", kept.display()))?;
        let mut java = self.java(home, &path, &run);
        java.args(options).args(self.options()).arg(self.program.main);
        for &argument in self.program.arguments {
            if argument == SOURCES {
                java.args(sources(&run)?);
            } else {
                java.arg(self.filled_in(argument));
            }
        }
        let mut java = started_through(through, java);
        let [stdout, stderr] = ["stdout", "stderr"].map(|of| self.folder.join(format!("{name}.{of}")));
        java.stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
        // A program of Maven Central runs under another process, and some start JVMs of their own.
        let to_its_end =
            if self.program.suite == CENTRAL { watch::tree_to_its_end } else { watch::to_its_end };
        let ended = to_its_end(&mut java, limits);
        // The next run finds everything in its place, whatever the outcome.
        fs::rename(&path, &kept)?;
        let ProcessEnd { exit, is_cut_off, wall, cpu_seconds, peak_kib } = ended?;
        let outcome = Outcome {
            exit,
            is_cut_off,
            stdout: fs::read(stdout)?,
            stderr: fs::read(stderr)?,
            files: files(&run)?,
            wall,
            cpu_seconds,
            peak_kib,
            profile: None,
        };
        let left = self.folder.join(name);
        if left.exists() {
            fs::remove_dir_all(&left)?;
        }
        fs::rename(&run, left)?;
        Ok(outcome)
    }

    /// The jars of the program on this JDK.
    fn jars(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = self.version == 8;
        self.program.jars.iter().copied().filter(move |name| all || *name != TOOLS)
    }

    /// The names of the class path's entries.
    fn entries(&self) -> Vec<&'static str> {
        let classes = self.makes_classes().then_some("classes");
        classes.into_iter().chain(self.jars()).collect()
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

    /// The `java` command of a JDK in `run` with the class path below `path`.
    fn java(&self, home: &Path, path: &Path, run: &Path) -> Command {
        let mut java = tool(home, "java");
        let entries: Vec<String> =
            self.entries().iter().map(|entry| path.join(entry).display().to_string()).collect();
        java.current_dir(run).stdin(Stdio::null()).env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
        java.arg("-cp").arg(entries.join(":"));
        java
    }

    /// The program's own options for the JVM.
    fn options(&self) -> impl Iterator<Item = String> {
        self.program.options.iter().map(|option| self.filled_in(option))
    }

    /// An argument with its placeholders replaced.
    fn filled_in(&self, argument: &str) -> String {
        let raw: Vec<String> =
            self.jars().map(|jar| self.folder.join(RAW).join(jar).display().to_string()).collect();
        let argument = argument.replace(CLASS_PATH, &raw.join(":"));
        let folders = [
            (ORIGINAL, self.folder.join("original")),
            (CLASSES, self.folder.join("raw/classes")),
            (INPUT, self.folder.join("input")),
            (PATH, self.folder.join("path")),
            ("{jdk}", self.jdk.clone()),
        ];
        folders
            .iter()
            .fold(argument, |argument, (name, folder)| argument.replace(name, &folder.display().to_string()))
    }

    /// Runs the preparing program, on the plain JDK.
    fn before(&self) -> Result<()> {
        fs::create_dir(self.folder.join("input"))?;
        let Some(before) = &self.program.before else { return Ok(()) };
        let raw = self.folder.join(RAW);
        if self.makes_classes() {
            fs::create_dir(raw.join("classes"))?;
        }
        let run = self.run_folder()?;
        let mut java = self.java(&self.jdk, &raw, &run);
        if self.version == 8 && before.main == JAVAC && !self.program.jars.contains(&TOOLS) {
            // Its compiler is in no class library.
            java.arg(format!("-Xbootclasspath/a:{}", self.jdk.join("lib").join(TOOLS).display()));
        }
        java.args(self.program.options.iter().filter(|option| !option.contains(PATH))).arg(before.main);
        java.args(before.arguments.iter().map(|argument| self.filled_in(argument)));
        process::output(&mut java).map(|_| ())
    }

    fn makes_classes(&self) -> bool {
        self.program.before.is_some_and(|before| before.arguments.contains(&CLASSES))
    }
}

/// A command started by another one: that one with its arguments, followed by the command.
fn started_through(through: &[OsString], command: Command) -> Command {
    let Some((program, arguments)) = through.split_first() else { return command };
    let mut outer = Command::new(program);
    outer.args(arguments).arg(command.get_program()).args(command.get_args());
    outer.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    for (name, _) in command.get_envs().filter(|(_, value)| value.is_none()) {
        outer.env_remove(name);
    }
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer
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

/// Creates an empty folder, removing an existing one.
pub fn fresh(folder: &Path) -> Result<()> {
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

/// Rewrites `inputs` into the folder `output`.
pub fn instrument(cctrewrite: &Path, library: &[PathBuf], inputs: &[PathBuf], output: &Path) -> Result<()> {
    let mut command = Command::new(cctrewrite);
    command.args(["instrument", "--quiet"]).args(inputs).arg("-o").arg(output);
    for jar in library {
        command.arg("--library").arg(jar);
    }
    process::output(&mut command).map(|_| ())
}
