//! The command line, with one file for each subcommand. Each flag carries its own documentation.

mod api;
mod bench;
mod cache;
mod choices;
mod compare;
mod config;
mod context_filter;
mod csv;
mod diff;
mod doctor;
mod explain;
mod export;
mod flags;
mod groups;
mod info;
mod instrument;
mod jdk;
mod layout;
mod library;
mod limits;
mod markers;
mod merge;
mod parts;
mod pcc;
mod recording;
mod recover;
pub mod renamed_options;
mod report;
mod run;
mod running;
mod selection;
mod shell;
mod sites;
mod top;
mod trace;
mod typestate;
mod udi;
mod verbosity;
mod verify;
mod view;

pub use api::Api;
pub use bench::{Bench, BenchCommand, BenchFormat, BenchHistory};
pub use cache::{Cache, CacheCommand, CacheFolder, CacheList, CachePrune};
pub use choices::{BenchChoices, Choices, cost_model};
pub use compare::{Compare, CompareFormat};
pub use config::Config;
pub use context_filter::{ContextFilter, OnlyArguments, WantedArguments};
pub use csv::CsvArguments;
pub use diff::{Diff, DiffFormat, DiffOrderArgument};
pub use doctor::Doctor;
pub use explain::Explain;
pub use export::{Export, NamesArgument};
pub use flags::Flags;
pub use info::{Info, InfoFormat};
pub use instrument::Instrument;
pub use jdk::Jdk;
pub use layout::LayoutArguments;
pub use library::{Library, LibraryArguments};
pub use limits::LimitsArguments;
pub use markers::{Markers, MarkersCheck, MarkersCommand};
pub use merge::{Merge, ThreadsArgument};
pub use parts::PartArguments;
pub use pcc::{Pcc, PccCollisions, PccCommand, PccContexts, PccDump, PccInfo};
pub use recording::Recording;
pub use recover::{Recover, Snapshot};
pub use report::{
    ByArgument, ColumnArgument, HeaderArgument, MetricArgument, OrderArgument, Report, ReportFormat,
    TableArgument,
};
pub use run::{PROFILE, Run};
pub use running::{JvmArgument, Period};
pub use selection::SelectionArguments;
pub use shell::{Completions, Man};
pub use sites::SitesArguments;
pub use top::Top;
pub use trace::{
    CoverageFormat, GraphFormat, StructureFormat, Trace, TraceCallgraph, TraceCommand, TraceContexts,
    TraceCoverage, TraceDump, TraceInfo, TraceMetrics, TraceReplay, TraceStructure, TraceTimeline,
};
pub use typestate::{
    CheckFormat, LevelArgument, Typestate, TypestateCheck, TypestateCommand, TypestateFormat,
    TypestateReport, TypestateShipped,
};
pub use udi::UdiArguments;
pub use verbosity::Verbosity;
pub use verify::{Verify, VerifyFormat};
pub use view::{SortArgument, View};

use std::sync::LazyLock;

use clap::{CommandFactory, Parser, Subcommand};

use crate::configuration;
use crate::exit_codes::ExitCodes;

const HELP: &str = "\
From a program to its profile:
  cctrewrite run -- java -jar app.jar
  cctrewrite report cctrewrite.cct --top 20

`cctrewrite COMMAND -h` lists the common options; `cctrewrite COMMAND --help` lists all options, with examples.";

/// This build's version and the compiler of its runtime. Both determine the bytes that it writes.
fn long_version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        format!("{}\nruntime compiled by {}", env!("CARGO_PKG_VERSION"), jdk_wrap::COMPILER)
    });
    &TEXT
}

/// Counts how often every method of a Java program runs and how many bytecodes it executes, for
/// every call stack: the complete, exact calling-context tree, the same on every machine. For this
/// it rewrites class files, the JDK's class library included.
#[derive(Debug, Parser)]
#[command(version, long_version = long_version(), max_term_width = 100, after_help = HELP)]
pub struct Arguments {
    /// The subcommand
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands; what they do stands with their arguments.
#[derive(Debug, Subcommand)]
pub enum Command {
    Instrument(Instrument),
    Flags(Flags),
    Jdk(Jdk),
    Cache(Cache),
    Run(Box<Run>),
    Snapshot(Snapshot),
    Top(Top),
    Recover(Recover),
    Report(Report),
    View(View),
    Info(Info),
    Merge(Merge),
    Diff(Diff),
    Bench(Bench),
    Compare(Compare),
    Export(Export),
    Trace(Trace),
    Pcc(Pcc),
    Markers(Markers),
    Typestate(Typestate),
    Explain(Explain),
    Verify(Verify),
    Api(Api),
    Doctor(Doctor),
    Config(Config),
    Completions(Completions),
    Man(Man),
}

/// The command line, with the groups of commands and the exit codes of each command in its help.
pub fn command() -> clap::Command {
    let arguments = Arguments::command();
    let template = groups::template(&arguments);
    let arguments = arguments.arg(configuration::argument()).args_override_self(true);
    let arguments = arguments.help_template(template).mut_subcommand("jdk", |jdk| {
        jdk.mut_args(|argument| {
            if Jdk::WITH_CHECK.contains(&argument.get_id().as_str()) {
                argument
            } else {
                // Without this, `--repair` would pass here: its `requires` has no effect beside an
                // argument that conflicts with `check`.
                argument.conflicts_with_all(["check", "repair"])
            }
        })
    });
    arguments.mut_subcommands(|command| {
        let command = command.args_override_self(true);
        let Some(codes) = ExitCodes::of(command.get_name()) else { return command };
        let examples = command.get_after_long_help().or(command.get_after_help());
        let examples = examples.map(|text| format!("\n{text}")).unwrap_or_default();
        let help = format!("{}{examples}", codes.help());
        command.after_long_help(help)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const MANUAL: &str = concat!(
        include_str!("../../../../docs/ci/bench.md"),
        include_str!("../../../../docs/ci/pull-requests.md"),
        include_str!("../../../../docs/reference/blocks.md"),
        include_str!("../../../../docs/ci/build-tools.md"),
        include_str!("../../../../docs/reference/command.md"),
        include_str!("../../../../docs/research/cost-models.md"),
        include_str!("../../../../docs/use/identity.md"),
        include_str!("../../../../docs/research/markers.md"),
        include_str!("../../../../docs/research/pcc.md"),
        include_str!("../../../../docs/use/servers.md"),
        include_str!("../../../../docs/use/reports.md"),
        include_str!("../../../../docs/use/diff.md"),
        include_str!("../../../../docs/use/run.md"),
        include_str!("../../../../docs/use/exports.md"),
        include_str!("../../../../docs/use/html.md"),
        include_str!("../../../../docs/use/view.md"),
        include_str!("../../../../docs/use/parts.md"),
        include_str!("../../../../docs/research/trace.md"),
        include_str!("../../../../docs/research/typestate.md"),
        include_str!("../../../../docs/internals/verify.md"),
        include_str!("../../../../docs/get-started/cost.md"),
        include_str!("../../../../docs/get-started/install.md"),
        include_str!("../../../../docs/use/callers.md"),
        include_str!("../../../../docs/use/my-code.md"),
    );

    /// The command lines in a text: indented lines that begin with the command, and what is in
    /// `$(...)`.
    fn command_lines(text: &str) -> Vec<Vec<String>> {
        let lines = text.lines().filter(|line| line.starts_with("    ") && !line.contains("[options]"));
        let lines = lines.flat_map(|line| match line.split_once("$(") {
            Some((_, rest)) if rest.starts_with("cctrewrite") => {
                rest.split_once(')').map(|(inside, _)| inside)
            }
            _ => line.trim().strip_prefix("cctrewrite ").map(|_| line.trim()),
        });
        let words = lines.map(|line| {
            let line = line.split([';', '>', '|']).next().unwrap_or_default();
            // Good enough for examples: quotes are only around words, and only one word has a
            // space.
            line.replace("'my jars", "my_jars")
                .split_whitespace()
                .map(|word| word.replace('\'', ""))
                .collect()
        });
        words.collect()
    }

    /// The line with built-in tables instead of the user's own files, which do not exist here.
    fn with_files(mut line: Vec<String>) -> Vec<String> {
        for at in 1..line.len() {
            if line[at].ends_with(".toml") {
                line[at] = if line[at - 1] == "--blocks" { "precise" } else { "jop" }.to_owned();
            }
        }
        line
    }

    #[test]
    fn all_examples_are_true() {
        let mut command = command();
        let mut texts =
            vec![MANUAL.to_owned(), command.render_long_help().to_string().replace("\n  ", "\n    ")];
        texts.extend(command.get_subcommands_mut().map(|command| command.render_long_help().to_string()));
        let mut seen = 0;
        for line in texts.iter().flat_map(|text| command_lines(text)).map(with_files) {
            seen += 1;
            if let Err(error) = Arguments::try_parse_from(&line) {
                panic!("{line:?}: {error}");
            }
        }
        assert!(seen > 25, "only {seen} examples were found");
    }

    #[test]
    fn the_manual_names_all_options_and_no_others() {
        let mut options = BTreeSet::from(["--help".to_owned()]);
        let arguments = command();
        let nested = arguments.get_subcommands().flat_map(|command| command.get_subcommands());
        for command in arguments.get_subcommands().chain(nested) {
            options
                .extend(command.get_arguments().filter_map(|a| a.get_long()).map(|long| format!("--{long}")));
        }
        let is_option = |c: char| c.is_ascii_lowercase() || c == '-';
        let words = MANUAL.split(|c| !is_option(c)).filter(|word| word.starts_with("--") && word.len() > 3);
        // Options of JVMs, Maven, Gradle, cargo, containers, and tools that read profiles.
        let of_others = [
            "--patch-module",
            "--add-modules",
            "--show-module-resolution",
            "--no-daemon",
            "--offline",
            "--release",
            "--example",
            "--locked",
            "--path",
            "--from",
            "--build-arg",
            "--rm",
            "--install",
            "--countname",
            "--inclusive",
        ];
        let named: BTreeSet<String> =
            words.filter(|word| !of_others.contains(word)).map(str::to_owned).collect();
        let difference = |a: &BTreeSet<String>, b| a.difference(b).cloned().collect::<Vec<_>>();
        let unnamed = difference(&options, &named);
        assert!(unnamed.is_empty(), "no page of the manual names {unnamed:?}");
        let unknown = difference(&named, &options);
        assert!(unknown.is_empty(), "the manual names options that are none: {unknown:?}");
    }

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }
}
