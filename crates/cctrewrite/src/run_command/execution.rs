//! Runs the command on an image of its JDK, from the choice of the image to the command's end.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use cct_build::image::use_of_image::{self, ImageInUse};
use cct_build::observer::Observer;
use cct_build::target_jdk::Target;
use cct_build::text::shell_word;

use super::child::{self, Ending};
use super::collection::Collection;
use super::no_jvm::Silent;
use crate::args::Run;
use crate::exit::{Outcome, say};
use crate::exit_codes::RUN;
use crate::progress::Terminal;
use crate::run_folder::Jvm;

/// Exit codes of processes that ended by a signal which their own code caused: SIGILL, SIGABRT,
/// SIGBUS, SIGFPE, SIGSEGV.
const CRASHES: [u8; 5] = [128 + 4, 128 + 6, 128 + 7, 128 + 8, 128 + 11];

/// A command that has ended.
pub struct CommandEnd {
    command: OsString,
    arguments: Vec<OsString>,
    /// Whether the command is a tool of the image.
    is_tool: bool,
    /// The image on which it ran.
    pub home: PathBuf,
    /// Keeps others from removing the image.
    image: ImageInUse,
    code: u8,
    /// The command's process id.
    process: u32,
    terminal: Terminal,
    /// The folder in which its JVMs registered.
    pub collection: Collection,
}

/// The result of starting a command.
pub enum Execution {
    /// It has ended.
    Ended(CommandEnd),
    /// It could not be started. A message has said so.
    NotStarted(Outcome),
}

/// Runs the command on the image of its JDK, which must pass `check`. JVMs write into a new folder
/// next to the file `beside`.
pub fn execute(
    arguments: &Run,
    command: &OsStr,
    rest: &[OsString],
    beside: &Path,
    check: impl FnOnce(&Path) -> Result<()>,
) -> Result<Execution> {
    let target = Target::of(command, arguments.jdk.as_deref())?;
    let terminal = arguments.verbosity.terminal();
    let image = use_of_image::of_home(target.home, |home| arguments.image(home), &terminal)?;
    let home = image.home.clone();
    check(&home)?;
    let words = std::iter::once(command).chain(rest.iter().map(OsString::as_os_str));
    let collection = Collection::beside(beside, words.map(OsStr::to_owned).collect())?;
    let properties = arguments.properties();
    collection.write_options(&properties)?;
    for (key, value) in &properties {
        terminal.detail(&format!("option of all JVMs: cctrewrite.{key}={value}"));
    }
    let is_tool = target.tool.is_some();
    let program = target.tool.map_or(command.to_owned(), |tool| home.join(tool).into_os_string());
    let not_started = |why, code| {
        say(&format!("cctrewrite: {}: {why}", Path::new(command).display()));
        Ok(Execution::NotStarted(Outcome::Passed(code)))
    };
    terminal.detail(&format!("command: {}", Path::new(&program).display()));
    let started = Instant::now();
    let ending = child::run(&program, rest, &home, collection.path(), beside)?;
    terminal.detail(&format!("the command ended after {:.2} s", started.elapsed().as_secs_f64()));
    collection.report_abandoned(arguments.verbosity.quiet);
    match ending {
        Ending::Code { code, process } => Ok(Execution::Ended(CommandEnd {
            command: command.to_owned(),
            arguments: rest.to_vec(),
            is_tool,
            home,
            image,
            code,
            process,
            terminal,
            collection,
        })),
        Ending::NotFound => not_started("not found", 127),
        Ending::NotStarted => not_started("cannot be started", 126),
    }
}

impl CommandEnd {
    /// Lists all JVMs that started ([`Collection::jvms`]).
    pub fn jvms(&self) -> Result<Vec<Jvm>> {
        let jvms = self.collection.jvms()?;
        for jvm in &jvms {
            self.terminal.detail(&format!("JVM {}, process {}: {}", jvm.number, jvm.process, jvm.command()));
        }
        Ok(jvms)
    }

    /// Says why no JVM of the image has recorded. `jdk` is the image's name in the message.
    pub fn say_no_jvm(&self, jdk: &str) {
        let CommandEnd { command, arguments, is_tool, home, code, .. } = self;
        let silent = Silent { command, arguments, is_tool: *is_tool, code: *code, home };
        say(&format!("cctrewrite: {}", silent.explained(jdk)));
    }

    /// Calls `deliver` with the image's home. If it fails, the folder of the JVMs stays and can be
    /// collected later.
    pub fn or_keep<T>(&mut self, deliver: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
        deliver(&self.home).map_err(|error| {
            self.collection.keep();
            let folder = self.collection.path();
            error.context(format!(
                "the files of JVMs are kept in {}; collect them later with `cctrewrite recover {}`",
                folder.display(),
                shell_word(folder)
            ))
        })
    }

    /// The exit code of a process, or 128 plus its signal; `None` unless it is the command's
    /// process.
    pub fn code_of(&self, process: u32) -> Option<u8> {
        (process == self.process).then_some(self.code)
    }

    /// The command's exit code, or 125 if that is 0 and something is missing. Checks the whole
    /// image if something is missing or the command crashed.
    pub fn outcome(&self, missing: bool) -> Outcome {
        let is_abnormal = missing || CRASHES.contains(&self.code);
        let missing = (is_abnormal && self.image.is_damaged_after_all(&Terminal::default())) || missing;
        Outcome::Passed(if self.code == 0 && missing { RUN.failure } else { self.code })
    }
}
