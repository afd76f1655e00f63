//! The environment of programs: the rewritten class library of a JDK 8, the image of a newer one,
//! or `cctrewrite run`.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result};
use xtask_tools::class_library::{boot_jars, extension_jars, jars_in};
use xtask_tools::jdks::{Jdk, tool};
use xtask_tools::process;
use xtask_tools::watch::Limits;
use xtask_tools::workspace::{self, ReleaseBuild};

use super::maven::CENTRAL;
use super::mode::Mode;
use super::outcome::{Outcome, totals};
use super::packages::ProgramFiles;
use super::place::{self, Place, Start, fresh, instrument};
use super::program::Program;

/// Longer than any of them takes; a run that takes longer hangs.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The rewritten JDK, and a folder for programs.
pub struct Stage {
    version: u32,
    jdk: Jdk,
    cctrewrite: PathBuf,
    folder: PathBuf,
    /// Created when the first program needs it: `cctrewrite run` builds its own image.
    profiled: OnceCell<ProfiledJdk>,
    /// Set once `cctrewrite run` has its image: otherwise the times of the first program would
    /// include it.
    image_of_run: OnceCell<()>,
}

/// A profiled JDK.
pub enum ProfiledJdk {
    /// For a JDK 8, the class library.
    Library {
        /// The outputs for its jars.
        outputs: Vec<PathBuf>,
        /// The options that select them.
        flags: Vec<String>,
    },
    /// For a newer one, all of it: its home.
    Image(PathBuf),
}

impl ProfiledJdk {
    /// Profiles a JDK of `version`; outputs are in `folder`.
    ///
    /// # Errors
    /// Fails if `cctrewrite` fails.
    pub fn make(version: u32, jdk: &Jdk, cctrewrite: &Path, folder: PathBuf) -> Result<ProfiledJdk> {
        if version == 8 {
            return library(cctrewrite, jdk, &folder);
        }
        let mut make = Command::new(cctrewrite);
        process::output(make.args(["jdk", "--link"]).arg(&jdk.home).arg("-o").arg(&folder))?;
        Ok(ProfiledJdk::Image(folder))
    }

    /// The library option of `cctrewrite instrument`, for applications that will run on it.
    pub fn library(&self) -> &[PathBuf] {
        match self {
            ProfiledJdk::Library { outputs, .. } => outputs,
            ProfiledJdk::Image(home) => std::slice::from_ref(home),
        }
    }

    /// The JDK's home, if it has one of its own, and the options for the JVM.
    pub fn start(&self) -> (Option<&Path>, &[String]) {
        match self {
            ProfiledJdk::Library { flags, .. } => (None, flags),
            ProfiledJdk::Image(home) => (Some(home), &[]),
        }
    }
}

impl Stage {
    /// Builds cctrewrite and profiles the JDK, which is of `version`, in cargo's target folder.
    ///
    /// # Errors
    /// Fails if one of the steps fails.
    pub fn new(version: u32, jdk: Jdk) -> Result<Stage> {
        let built = workspace::build_release(&jdk)?;
        Stage::of(version, jdk, built)
    }

    /// Creates a stage for a command that was built before.
    ///
    /// # Errors
    /// Fails if its folder cannot be created.
    pub fn of(version: u32, jdk: Jdk, built: ReleaseBuild) -> Result<Stage> {
        let ReleaseBuild { program: cctrewrite, target } = built;
        let folder = target.join("programs").join(version.to_string());
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        Ok(Stage {
            version,
            jdk,
            cctrewrite,
            folder,
            profiled: OnceCell::new(),
            image_of_run: OnceCell::new(),
        })
    }

    fn profiled(&self) -> Result<&ProfiledJdk> {
        if let Some(profiled) = self.profiled.get() {
            return Ok(profiled);
        }
        let made = ProfiledJdk::make(self.version, &self.jdk, &self.cctrewrite, self.folder.join("jdk"))?;
        Ok(self.profiled.get_or_init(|| made))
    }

    /// The version of the JDK: 8, 17, ...
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Prepares a program: its jars raw and rewritten, and the output of the program that runs
    /// before.
    ///
    /// # Errors
    /// Fails if one of the steps fails.
    pub fn prepare(&self, program: &Program, fetched: &ProgramFiles) -> Result<Place> {
        let folder = self.folder.join(program.name);
        let place = Place::prepare(*program, self.version, &self.jdk, &folder, fetched)?;
        if program.suite != CENTRAL
            && let ProfiledJdk::Library { outputs, .. } = self.profiled()?
        {
            place.rewrite(&self.cctrewrite, outputs)?;
        }
        Ok(place)
    }

    /// Runs a program.
    ///
    /// # Errors
    /// Fails if it cannot be started; the outcome has its end.
    pub fn run(&self, place: &Place, mode: Mode) -> Result<Outcome> {
        let profile = place.folder().join(format!("{}.cct", mode.files()));
        let (home, mut options) = match mode {
            Mode::Plain | Mode::Run => (&self.jdk.home, Vec::new()),
            _ => match self.profiled()? {
                ProfiledJdk::Library { flags, .. } => (&self.jdk.home, flags.clone()),
                ProfiledJdk::Image(home) => (home, Vec::new()),
            },
        };
        let mut through = Vec::new();
        match mode {
            Mode::Plain => {}
            Mode::Run => {
                self.make_image_of_run()?;
                through = self.command_run(&profile);
            }
            _ => options.push(format!("-Dcctrewrite.out={}", profile.display())),
        }
        let jars = if mode == Mode::Offline { place::REWRITTEN } else { place::RAW };
        let limits = Limits::of(TIME_LIMIT);
        let mut outcome = place.run(&Start {
            name: mode.files(),
            home,
            through: &through,
            options: &options,
            jars,
            limits,
        })?;
        outcome.profile = (mode != Mode::Plain).then(|| totals(&profile));
        Ok(outcome)
    }

    /// Builds the image for [`command_run`](Self::command_run), by a first use.
    fn make_image_of_run(&self) -> Result<()> {
        if self.image_of_run.get().is_some() {
            return Ok(());
        }
        let through = self.command_run(&self.folder.join("first.cct"));
        let (program, arguments) = through.split_first().context("no command")?;
        let mut command = Command::new(program);
        process::output(
            command.args(arguments).arg(tool(&self.jdk.home, "java").get_program()).arg("-version"),
        )?;
        self.image_of_run.get_or_init(|| ());
        Ok(())
    }

    /// The command `cctrewrite run`, up to the command to run. Images are kept in cargo's target
    /// folder.
    fn command_run(&self, profile: &Path) -> Vec<OsString> {
        let mut cache = OsString::from("--cache=");
        cache.push(self.folder.join("cache"));
        let run: [&OsStr; 6] = [
            self.cctrewrite.as_os_str(),
            "run".as_ref(),
            "--quiet".as_ref(),
            &cache,
            "-o".as_ref(),
            profile.as_os_str(),
        ];
        run.into_iter().map(OsStr::to_owned).chain(["--".into()]).collect()
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
}
