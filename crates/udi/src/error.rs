//! What goes wrong with a module, with what its user is to do.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::wire::WireError;

/// Why a module cannot be asked, or what it answered cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read or found.
    #[error("{}: cannot find: {error}", .path.display())]
    NotFound {
        /// The module.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// There is nothing from which its JVM could start.
    #[error(
        "module {0}: name the jar that `cctrewrite api --modules` writes with -Dcctrewrite.udi-host, from which its JVM starts"
    )]
    NoHost(String),
    /// The home of a JDK that has no JVM.
    #[error("{} has no bin/java; --udi-java names the home of a JDK", .0.display())]
    NoJava(PathBuf),
    /// It, or the JVM for it, does not start.
    #[error(
        "module {module}: cannot start {program}: {error}; a module is a jar, for which --udi-java names the JDK, or a program"
    )]
    NotStarted {
        /// The module.
        module: String,
        /// What was to be started.
        program: String,
        /// Why.
        error: io::Error,
    },
    /// Something of the operating system's.
    #[error("module {module}: {what}: {error}")]
    System {
        /// The module.
        module: String,
        /// What cannot be done.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// It ended while it was asked.
    #[error("module {module} ended without an answer {at}{}; if it said why, that stands above", .status.map_or(String::new(), |status| format!(" ({status})")))]
    Ended {
        /// The module.
        module: String,
        /// When.
        at: String,
        /// How, if that is known.
        status: Option<ExitStatus>,
    },
    /// What it answered is not an answer.
    #[error("module {module}: what it answered {at} is none: {error}")]
    NoAnswer {
        /// The module.
        module: String,
        /// To what.
        at: String,
        /// What is wrong with it.
        error: WireError,
    },
    /// It thinks for too long.
    #[error("module {module} gave no answer {at} within {seconds} s; let it think longer with --udi-timeout")]
    TooSlow {
        /// The module.
        module: String,
        /// To what.
        at: String,
        /// How long it was given.
        seconds: u64,
    },
    /// It does not keep to the order of things.
    #[error("module {module}: {what}")]
    OutOfTurn {
        /// The module.
        module: String,
        /// What it did.
        what: String,
    },
    /// It says itself that it failed.
    #[error("module {module} failed {at}: {why}")]
    Failed {
        /// The module.
        module: String,
        /// For which class.
        at: String,
        /// In its words.
        why: String,
    },
    /// It ended with something other than success.
    #[error("module {module} ended with {status}")]
    EndedBadly {
        /// The module.
        module: String,
        /// How.
        status: ExitStatus,
    },
}
