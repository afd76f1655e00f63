//! `cctrewrite report`: profiles as text for people, and for programs.

mod csv;
mod html;
mod json;
pub(crate) mod report_contents;
mod text;

use anyhow::{Context, Result, bail};
use cct_build::classes;
use cct_profile::contexts::{ContextsOptions, write_contexts};
use cct_profile::{Pattern, Summary};

use crate::args::{ByArgument, Report, ReportFormat};
use crate::exit::{self, Outcome};
use crate::profile_file::{ReadOptions, View as Part, check_stdin, metric, read_sum, shown};
use crate::report_command::report_contents::{ReportContents, by, names, select, view};
use crate::tables_command;

/// Runs the command.
pub fn run(arguments: &Report) -> Result<Outcome> {
    check_stdin(&arguments.profiles)?;
    if by(arguments).needs_origins() && arguments.classes.is_empty() {
        bail!("{}", ByArgument::needs_classes(by(arguments)));
    }
    if arguments.callers.is_some() && arguments.format != ReportFormat::Text {
        bail!(
            "--callers is for text; `cctrewrite export` writes formats from which other tools make such trees"
        );
    }
    if arguments.hot_path && arguments.format != ReportFormat::Text {
        bail!("--hot-path is for text; the contexts of --format json have the numbers");
    }
    if let Some(table) = arguments.table {
        return tables_command::run(arguments, table);
    }
    let origins = classes::origins(&arguments.classes)?;
    if let Some(output) = html::output(arguments)? {
        return html::run(arguments, &output, &origins);
    }
    let callers = arguments.callers.as_deref().map(Pattern::new);
    let asked_for = arguments.selection.methods().chain(callers);
    let reading = ReadOptions::new(&arguments.parts, Part::Both)?.asking_for(asked_for);
    let (profile, damage) = read_sum(&arguments.profiles, &reading)?;
    let objects = profile.object_totals();
    let profile = view(arguments).shown(profile).with_context(|| {
        let files: Vec<String> = arguments.profiles.iter().map(|path| shown(path)).collect();
        files.join(", ")
    })?;
    let summary = Summary { objects, ..Summary::of(&profile) };
    let metric = metric(arguments.metric, &summary)?;
    let (profile, selected) = select(arguments, profile.with_native_callers())?;
    let report = ReportContents { arguments, summary, profile, selected, metric, origins };
    exit::to_stdout(|out| match arguments.format {
        ReportFormat::Text => text::write(&report, out),
        ReportFormat::Json => json::write(&report, out),
        ReportFormat::Csv => csv::write(&report, out),
        ReportFormat::Contexts => {
            let options = ContextsOptions { per_thread: arguments.per_thread, names: names(arguments) };
            write_contexts(&report.profile, options, out)
        }
    })?;
    Ok(if damage.is_empty() { Outcome::Complete } else { Outcome::Damaged })
}
