//! The command: arguments, progress, messages. Everything else is in the library crates.

mod args;
mod exit;
mod filter;
mod instrument;
mod report_command;

use std::process::ExitCode;

use clap::Parser;

use args::Command;

fn main() -> ExitCode {
    let result = match args::Arguments::parse().command {
        Command::Instrument(arguments) => instrument::run(&arguments).map(|()| exit::Outcome::Complete),
        Command::Report(arguments) => report_command::run(&arguments),
    };
    exit::finish(result)
}
