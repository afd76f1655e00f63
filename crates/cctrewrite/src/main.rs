//! The command: arguments, progress, messages. Everything else is in the library crates.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod api_command;
mod args;
mod bench_command;
mod ci;
mod classes;
mod compare_command;
mod csv;
mod diff_command;
mod exactness;
mod exit;
mod explain;
mod export_command;
mod fingerprint;
mod flags;
mod image;
mod info_command;
mod inputs;
mod instrument;
mod jdk;
mod json;
mod load_time;
mod markers_command;
mod marking;
mod merge_command;
mod output;
mod pcc_command;
mod pending_file;
mod place;
mod profile_file;
mod progress;
mod recover_command;
mod report_command;
mod reproducible;
mod run_command;
mod shell;
mod tables_command;
mod target_jdk;
mod text;
mod trace_command;
mod traces;
mod treatments;
mod typestate_command;
mod udi;
mod verify_command;
mod vm_options;

use std::process::ExitCode;

use clap::Parser;

use args::Command;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    exit::outlive_size_limits();
    let (result, failure) = match args::Arguments::parse().command {
        Command::Instrument(arguments) => (complete(instrument::run(&arguments)), exit::FAILURE),
        Command::Flags(arguments) => (complete(flags::run(&arguments)), exit::FAILURE),
        Command::Jdk(arguments) => (complete(image::run(&arguments)), exit::FAILURE),
        Command::Run(arguments) => (run_command::run(&arguments), run_command::FAILURE),
        Command::Snapshot(arguments) => (recover_command::snapshot(&arguments), exit::FAILURE),
        Command::Recover(arguments) => (recover_command::recover(&arguments), exit::FAILURE),
        Command::Explain(arguments) => (complete(explain::run(&arguments)), exit::FAILURE),
        Command::Verify(arguments) => (verify_command::run(&arguments), exit::TROUBLE),
        Command::Api(arguments) => (complete(api_command::run(&arguments)), exit::FAILURE),
        Command::Report(arguments) => (report_command::run(&arguments), exit::FAILURE),
        Command::Info(arguments) => (info_command::run(&arguments), exit::FAILURE),
        Command::Merge(arguments) => (merge_command::run(&arguments), exit::FAILURE),
        Command::Bench(arguments) => (bench_command::run(&arguments), exit::TROUBLE),
        Command::Diff(arguments) => (diff_command::run(&arguments), exit::TROUBLE),
        Command::Export(arguments) => (export_command::run(&arguments), exit::FAILURE),
        Command::Trace(arguments) => (complete(trace_command::run(&arguments.command)), exit::FAILURE),
        Command::Pcc(arguments) => (complete(pcc_command::run(&arguments.command)), exit::FAILURE),
        Command::Markers(arguments) => (complete(markers_command::run(&arguments.command)), exit::FAILURE),
        Command::Typestate(arguments) => (typestate_command::run(&arguments.command), exit::TROUBLE),
        Command::Completions(arguments) => (complete(shell::completions(&arguments)), exit::FAILURE),
        Command::Man(arguments) => (complete(shell::man(&arguments)), exit::FAILURE),
        Command::Compare(arguments) => (compare_command::run(&arguments), exit::TROUBLE),
    };
    exit::finish(result, failure)
}

fn complete(result: anyhow::Result<()>) -> anyhow::Result<exit::Outcome> {
    result.map(|()| exit::Outcome::Complete)
}
