//! The command: arguments, progress, messages. Everything else is in the library crates.

mod args;
mod filter;
mod instrument;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let result = match args::Arguments::parse().command {
        args::Command::Instrument(arguments) => instrument::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cctrewrite: {error:#}");
            ExitCode::from(1)
        }
    }
}
