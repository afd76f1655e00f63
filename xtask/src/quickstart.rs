//! `cargo xtask quickstart`: from a machine that has only Rust to a calling-context tree.
//!
//! It runs the commands that a user would type, and shows them: the class library of a JDK 8 is instrumented, then a sample program
//! (`fixtures/quickstart`), which runs on it; the report of the run is printed. Everything is made anew each time, since that takes
//! seconds; only the JDK and what cargo built are kept.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};

use crate::class_library::{boot_jars, extension_jars, jars_in};
use crate::jdks::{self, Fetch, Jdk, tool};
use crate::print_line;
use crate::process;
use crate::workspace::{self, Built};

/// What one screen shows of the report.
const SCREEN: Screen = Screen { lines: 32, columns: 100, depth: 10 };

struct Screen {
    lines: usize,
    columns: usize,
    depth: usize,
}

/// What the sample program prints, and so what it must print when it is instrumented.
const SAID: &str = "a 1000  boat 1000  but 1000  down 1000  dream 1000  gently 1000  is 1000  life 1000  \
                    merrily 4000  row 3000  stream 1000  the 1000  your 1000  ";

/// Runs the task.
///
/// # Errors
/// If there is no JDK 8, or one of the steps fails.
pub fn run() -> Result<()> {
    let started = Instant::now();
    step(1, "a JDK 8 (found on this machine, or fetched from Debian's packages into the cache folder)");
    let jdk = jdk_8()?;
    eprintln!("    {} ({}, {})", jdk.home.display(), jdk.full_version, jdk.origin);

    step(2, "building cctrewrite (the first time takes a minute or two)");
    let Built { program, target } = workspace::build_release(&jdk)?;

    let place = Place::fresh(&target, program)?;
    step(3, "instrumenting the class library of the JDK");
    let library = place.instrument_library(&jdk)?;

    step(4, "compiling and instrumenting a sample program");
    let sample = workspace::root().join("fixtures/quickstart/Sample.java");
    place.instrument_sample(&jdk, &sample)?;

    step(5, "running it on the instrumented class library");
    let java = place.launcher(&jdk, &library)?;
    let profile = place.run_sample(&java)?;

    eprintln!("\nDone in {:.0} s. This is its calling-context tree:\n", started.elapsed().as_secs_f64());
    place.report(&profile)?;
    place.farewell(&sample, &java, &profile);
    Ok(())
}

fn step(number: u32, what: &str) {
    eprintln!("\n[{number}/5] {what}");
}

fn jdk_8() -> Result<Jdk> {
    let answers = jdks::get(&[8], Fetch::IfMissing)?;
    answers.into_iter().next().context("no answer about JDK 8")?.jdk.context("JDK 8")
}

/// The folder of what the quickstart makes, and the command that makes it.
struct Place {
    folder: PathBuf,
    program: PathBuf,
}

impl Place {
    /// An empty folder in cargo's target folder.
    fn fresh(target: &Path, program: PathBuf) -> Result<Place> {
        let folder = target.join("quickstart");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("remove {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        Ok(Place { folder, program })
    }

    /// Instruments all jars of the class library: those of the boot class path, and those of the extension folder, which the JVM
    /// wants in a folder of their own. Returns the outputs.
    fn instrument_library(&self, jdk: &Jdk) -> Result<Vec<PathBuf>> {
        let mut outputs = self.instrument(boot_jars(jdk), "boot")?;
        let extensions = extension_jars(jdk)?;
        if !extensions.is_empty() {
            outputs.extend(self.instrument(extensions, "ext")?);
        }
        Ok(outputs)
    }

    /// Instruments jars into the folder `name`; returns the outputs.
    fn instrument(&self, jars: Vec<PathBuf>, name: &str) -> Result<Vec<PathBuf>> {
        let folder = self.folder.join(name);
        // A folder even for a single jar.
        fs::create_dir(&folder)?;
        shown(Command::new(&self.program).arg("instrument").args(&jars).arg("-o").arg(&folder))?;
        jars_in(&folder)
    }

    fn instrument_sample(&self, jdk: &Jdk, source: &Path) -> Result<()> {
        let classes = self.folder.join("classes");
        fs::create_dir(&classes)?;
        shown(tool(&jdk.home, "javac").arg("-d").arg(&classes).arg(source))?;
        shown(
            Command::new(&self.program)
                .arg("instrument")
                .arg(&classes)
                .arg("--library")
                .arg(self.folder.join("boot/rt.jar"))
                .arg("-o")
                .arg(self.folder.join("sample")),
        )
    }

    /// Writes a program that stands for `java`, with the options that put the instrumented class library in place.
    fn launcher(&self, jdk: &Jdk, library: &[PathBuf]) -> Result<PathBuf> {
        let mut flags = Command::new(&self.program);
        flags.arg("flags").args(library);
        eprintln!("    $ {}", words(&flags));
        // One option on each line, quoted for a shell.
        let flags = process::output(&mut flags)?;
        let path = self.folder.join("java");
        fs::write(&path, launcher(&jdk.home.join("bin/java"), &flags))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// Runs the sample program; returns its profile.
    fn run_sample(&self, java: &Path) -> Result<PathBuf> {
        let profile = self.folder.join("sample.cct");
        let mut run = Command::new(java);
        run.arg(option("-Dcctrewrite.out=", &profile))
            .arg("-cp")
            .arg(self.folder.join("sample"))
            .arg("Sample");
        eprintln!("    $ {}", words(&run));
        let said = process::output(&mut run)?;
        eprintln!("    {}", said.trim());
        ensure!(said == SAID, "the sample program should have printed: {SAID}");
        ensure!(profile.is_file(), "the run left no profile at {}", profile.display());
        Ok(profile)
    }

    /// Prints the beginning of the report: what fits on a screen.
    fn report(&self, profile: &Path) -> Result<()> {
        let mut report = Command::new(&self.program);
        report.arg("report").arg(profile).args(["--depth", &SCREEN.depth.to_string()]);
        report.args(["--width", &SCREEN.columns.to_string()]);
        let report = process::output(&mut report)?;
        let lines: Vec<&str> = report.lines().collect();
        for line in lines.iter().take(SCREEN.lines) {
            print_line(line)?;
        }
        if lines.len() > SCREEN.lines {
            print_line(&format!("... and {} lines more", lines.len() - SCREEN.lines))?;
        }
        Ok(())
    }

    /// Says where things are, and what to do with them.
    fn farewell(&self, sample: &Path, java: &Path, profile: &Path) {
        let shown = |path: &Path| from_here(path).display().to_string();
        let [folder, program] = [&self.folder, &self.program].map(|path| shown(path));
        let [sample, java, profile] = [sample, java, profile].map(shown);
        eprintln!(
            "
The numbers can be checked by hand: {sample} says how.

The whole tree:              {program} report {profile}
The instrumented classes:    {folder}/boot and {folder}/ext
java that runs on them:      {java}

Your own program, as it is:
    {java} -Dcctrewrite.out=app.cct -jar app.jar
    {program} report app.cct

Faster, instrumented beforehand:
    {program} instrument app.jar --library {folder}/boot/rt.jar -o inst_app.jar
    {java} -Dcctrewrite.out=app.cct -jar inst_app.jar"
        );
    }
}

/// A shell script that runs `java` with `flags` (one option on each line, quoted) and what it is given.
fn launcher(java: &Path, flags: &str) -> String {
    let mut text = String::from(
        "#!/bin/sh\n# JDK 8 with the instrumented class library. Written by `cargo xtask quickstart`.\n",
    );
    // Options from outside would change what is counted.
    text += "unset JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH\n";
    text += &format!("exec '{}' \\\n", java.display().to_string().replace('\'', r"'\''"));
    for flag in flags.lines() {
        text += &format!("    {flag} \\\n");
    }
    text + "    \"$@\"\n"
}

/// Shows a command as it would be typed, runs it, and shows the gist of what it says.
fn shown(command: &mut Command) -> Result<()> {
    eprintln!("    $ {}", words(command));
    let output = process::run(command)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("this command failed ({}): {said}", output.status);
    }
    // `instrument` says in one line what it made, `a.jar, b.jar: 20 classes, ...`; details follow.
    if let Some((_, gist)) = said.lines().find_map(|line| line.rsplit_once(": ")) {
        eprintln!("    {gist}");
    }
    Ok(())
}

/// A command as it would be typed; of several jars in one folder only the first is named.
fn words(command: &Command) -> String {
    let mut words = vec![from_here(Path::new(command.get_program())).display().to_string()];
    let mut folder_of_last = None;
    for argument in command.get_args() {
        let path = Path::new(argument);
        let folder = path.parent().filter(|_| path.extension() == Some(OsStr::new("jar")));
        if folder.is_some() && folder == folder_of_last {
            if words.last().is_some_and(|word| word != "...") {
                words.push("...".to_owned());
            }
        } else {
            words.push(from_here(path).display().to_string());
        }
        folder_of_last = folder;
    }
    words.join(" ")
}

/// A path as it is to be typed here: relative, if it lies below the current folder.
fn from_here(path: &Path) -> PathBuf {
    let relative =
        env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    relative.unwrap_or_else(|| path.to_owned())
}

/// `name` and `value` in one argument.
fn option(name: &str, value: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(value);
    option
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_jars_the_first_is_shown() {
        let mut command = Command::new("/x/cctrewrite");
        command.args(["instrument", "/j/a.jar", "/j/b.jar", "/j/c.jar", "/k/d.jar", "-o", "/out"]);
        assert_eq!(words(&command), "/x/cctrewrite instrument /j/a.jar ... /k/d.jar -o /out");
    }

    #[test]
    fn the_launcher_is_a_script_that_keeps_quotes_and_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("java");
        // `printf` stands for the JVM and shows what it was given.
        fs::write(&script, launcher(Path::new("/usr/bin/printf"), "'<%s>'\n'-Da=b c'\n-Dd=e\n")).unwrap();
        let said = process::output(Command::new("sh").arg(&script).args(["Main", "two words"])).unwrap();
        assert_eq!(said, "<-Da=b c><-Dd=e><Main><two words>");
    }
}
