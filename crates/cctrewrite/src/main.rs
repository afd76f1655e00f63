//! The command: arguments, progress, messages. Everything else is in the library crates.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod api_command;
mod args;
mod bench_command;
mod cache_command;
mod ci;
mod compare_command;
mod configuration;
mod diff_command;
mod doctor;
mod embedded;
mod exit;
mod exit_codes;
mod explain;
mod export_command;
mod flags;
mod info_command;
mod instrument_command;
mod jdk_command;
mod json;
mod markers_command;
mod merge_command;
mod pcc_command;
mod profile_file;
mod progress;
mod recover_command;
mod remedies;
mod report_command;
mod run_command;
mod run_folder;
mod shell;
mod tables_command;
mod top_command;
mod trace_command;
mod typestate_command;
mod verdicts;
mod verify_command;
mod view_command;

use std::process::ExitCode;

use clap::error::ContextKind;
use clap::{ArgMatches, FromArgMatches};

use args::{Arguments, Command};
use exit_codes::{BENCH, COMPARE, CONFIGURATION, DIFF, DOCTOR, PROFILES, RUN, TYPESTATE, VERIFY, VIEW, WORK};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    exit::outlive_size_limits();
    cct_build::load_time::embed(embedded::LIBRARIES);
    // The options of the configuration file become part of the command line before clap reads it.
    let words = match configuration::expanded(std::env::args_os().collect(), &args::command()) {
        Ok(words) => words,
        Err(error) => return exit::finish(Err(error), &CONFIGURATION),
    };
    let matches =
        args::command().try_get_matches_from(words).unwrap_or_else(|error| with_one_tip(error).exit());
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    args::renamed_options::notes(&matches).iter().for_each(|note| exit::say(note));
    let (result, codes) = match arguments.command {
        Command::Doctor(arguments) => (doctor::run(&arguments), &DOCTOR),
        Command::Config(_) => (complete(config(&matches)), &WORK),
        Command::Instrument(arguments) => (complete(instrument_command::run(&arguments)), &WORK),
        Command::Flags(arguments) => (complete(flags::run(&arguments)), &WORK),
        Command::Jdk(arguments) => (complete(jdk_command::run(&arguments)), &WORK),
        Command::Cache(arguments) => (complete(cache_command::run(&arguments.command)), &WORK),
        Command::Run(arguments) => (run_command::run(&arguments), &RUN),
        Command::Snapshot(arguments) => (recover_command::snapshot(&arguments), &PROFILES),
        Command::View(arguments) => (view_command::run(&arguments), &VIEW),
        Command::Top(arguments) => (top_command::run(&arguments), &PROFILES),
        Command::Recover(arguments) => (recover_command::recover(&arguments), &PROFILES),
        Command::Explain(arguments) => (complete(explain::run(&arguments)), &WORK),
        Command::Verify(arguments) => (verify_command::run(&arguments), &VERIFY),
        Command::Api(arguments) => (complete(api_command::run(&arguments)), &WORK),
        Command::Report(arguments) => (report_command::run(&arguments), &PROFILES),
        Command::Info(arguments) => (info_command::run(&arguments), &PROFILES),
        Command::Merge(arguments) => (merge_command::run(&arguments), &PROFILES),
        Command::Bench(arguments) => (bench_command::run(&arguments), &BENCH),
        Command::Diff(arguments) => (diff_command::run(&arguments), &DIFF),
        Command::Export(arguments) => (export_command::run(&arguments), &PROFILES),
        Command::Trace(arguments) => (complete(trace_command::run(&arguments.command)), &WORK),
        Command::Pcc(arguments) => (complete(pcc_command::run(&arguments.command)), &WORK),
        Command::Markers(arguments) => (complete(markers_command::run(&arguments.command)), &WORK),
        Command::Typestate(arguments) => (typestate_command::run(&arguments.command), &TYPESTATE),
        Command::Completions(arguments) => (complete(shell::completions(&arguments)), &WORK),
        Command::Man(arguments) => (complete(shell::man(&arguments)), &WORK),
        Command::Compare(arguments) => (compare_command::run(&arguments), &COMPARE),
    };
    exit::finish(result, codes)
}

/// The error without clap's advice to pass a mistyped option on to the program, if it names the
/// option that is meant.
fn with_one_tip(mut error: clap::Error) -> clap::Error {
    if error.get(ContextKind::SuggestedArg).is_some() {
        error.remove(ContextKind::Suggested);
    }
    error
}

/// Shows the configuration.
fn config(matches: &ArgMatches) -> anyhow::Result<()> {
    let named = matches.get_one::<String>("config").map(AsRef::as_ref);
    let text = configuration::show(named, &args::command())?;
    exit::to_stdout(|out| out.write_all(text.as_bytes()))
}

fn complete(result: anyhow::Result<()>) -> anyhow::Result<exit::Outcome> {
    result.map(|()| exit::Outcome::Complete)
}
