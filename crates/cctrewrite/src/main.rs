//! The command: arguments, progress, messages. Everything else is in the library crates.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod args;
mod exactness;
mod exit;
mod explain;
mod filter;
mod flags;
mod inputs;
mod instrument;
mod jdk;
mod load_time;
mod output;
mod pending_file;
mod place;
mod progress;
mod report_command;
mod text;
mod treatments;

use std::process::ExitCode;

use clap::Parser;

use args::Command;

fn main() -> ExitCode {
    let result = match args::Arguments::parse().command {
        Command::Instrument(arguments) => instrument::run(&arguments).map(|()| exit::Outcome::Complete),
        Command::Flags(arguments) => flags::run(&arguments).map(|()| exit::Outcome::Complete),
        Command::Explain(arguments) => explain::run(&arguments).map(|()| exit::Outcome::Complete),
        Command::Report(arguments) => report_command::run(&arguments),
    };
    exit::finish(result)
}
