//! Errors of a module, with advice for its user.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use crate::wire::WireError;

/// The reason why a module cannot be used, or its answer is unusable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The module cannot be read or found.
    #[error("{}: cannot find: {error}", .path.display())]
    NotFound {
        /// The module.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// There is no jar from which the module's JVM could start.
    #[error(
        "module {0}: name the jar that `cctrewrite api --modules` writes with -Dcctrewrite.udi-host, from which its JVM starts"
    )]
    NoHost(String),
    /// The home of a JDK without a JVM.
    #[error("{} has no bin/java; --udi-java names the home of a JDK", .0.display())]
    NoJava(PathBuf),
    /// The module, or the JVM for it, does not start.
    #[error(
        "module {module}: cannot start {program}: {error}; a module is a jar, for which --udi-java names the JDK, or a program"
    )]
    NotStarted {
        /// The module.
        module: String,
        /// The program to start.
        program: String,
        /// The cause.
        error: io::Error,
    },
    /// An operation of the operating system failed.
    #[error("module {module}: {what}: {error}")]
    System {
        /// The module.
        module: String,
        /// The operation.
        what: &'static str,
        /// The cause.
        error: io::Error,
    },
    /// The module ended before its answer.
    #[error("module {module} ended without an answer {at}{}; see its messages above", .status.map_or(String::new(), |status| format!(" ({status})")))]
    Ended {
        /// The module.
        module: String,
        /// The class or step at which it ended.
        at: String,
        /// Exit status of the module, if known.
        status: Option<ExitStatus>,
    },
    /// The module's answer is invalid.
    #[error("module {module}: invalid answer {at}: {error}")]
    NoAnswer {
        /// The module.
        module: String,
        /// The class or step of the answer.
        at: String,
        /// The fault of the answer.
        error: WireError,
    },
    /// It exceeded the time limit.
    #[error("module {module} gave no answer {at} within {seconds} s; give it more time with --udi-timeout")]
    TooSlow {
        /// The module.
        module: String,
        /// The class or step that took too long.
        at: String,
        /// The limit in seconds.
        seconds: u64,
    },
    /// It violates the order of the protocol.
    #[error("module {module}: {what}")]
    OutOfTurn {
        /// The module.
        module: String,
        /// The violation.
        what: String,
    },
    /// The module reports that it failed.
    #[error("module {module} failed {at}: {why}")]
    Failed {
        /// The module.
        module: String,
        /// The class at which it failed.
        at: String,
        /// The module's message.
        why: String,
    },
    /// It ended with an exit status other than success.
    #[error("module {module} ended with {status}")]
    EndedBadly {
        /// The module.
        module: String,
        /// The exit status.
        status: ExitStatus,
    },
}
