//! Modes of running a program.

use clap::ValueEnum;

use super::maven::CENTRAL;
use super::program::Program;

/// A mode of running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Mode {
    /// The unchanged program, on the unchanged JDK.
    #[value(skip)]
    Plain,
    /// The program's jars rewritten, with the JDK's as library (JDK 8).
    Offline,
    /// The unchanged program, on the rewritten class library (JDK 8).
    Untouched,
    /// The unchanged program, on a profiled JDK (newer ones).
    Image,
    /// The unchanged program, under `cctrewrite run` (programs of Maven Central, all JDKs).
    Run,
}

impl Mode {
    /// The word for the mode.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Plain => "plain",
            Mode::Offline => "offline",
            Mode::Untouched => "untouched",
            Mode::Image => "image",
            Mode::Run => "run",
        }
    }

    /// The folder for the files of such a run. All of them run in the folder `run`.
    pub fn files(self) -> &'static str {
        if self == Mode::Run { "below-run" } else { self.word() }
    }

    /// Whether a program is run in this mode on a JDK of `version`.
    pub fn is_for(self, program: &Program, version: u32) -> bool {
        let of_maven = program.suite == CENTRAL;
        match self {
            Mode::Plain => true,
            Mode::Offline | Mode::Untouched => !of_maven && version == 8,
            Mode::Image => !of_maven && version > 8,
            Mode::Run => of_maven,
        }
    }
}
