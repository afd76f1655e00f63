//! `cctrewrite run --tool markers`: each JVM leaves what clients of markers print, and a report
//! about properties.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cct_build::image::fit;
use cct_build::image::fit::ToolOutput;
use cct_build::marking::Marking;
use cct_build::target_jdk::Target;
use cct_build::text::{counted, readable, shell_word};
use cct_settings::ToolName;
use cct_typestate::report::Report;

use super::files::{self, Kind, move_file};
use crate::args::Run;
use crate::exit::{Outcome, say};

/// The file with what clients print.
const PRINTED: Kind = Kind {
    leaves: ToolOutput::Markers,
    extension: "markers",
    jdk: "marked JDK",
    missing: "left no output of its markers; it was killed, halted, or still runs",
};

/// The report, if properties are checked.
const FOUND: Kind = Kind { extension: "typestate", ..PRINTED };

/// Maximum number of markers in the summary.
const TOP: usize = 5;

/// Prefix of the lines that the runtime of markers prints.
const OURS: &str = "cctrewrite: markers: ";

/// Runs the command.
pub fn run(arguments: &Run, command: &OsStr, rest: &[OsString]) -> Result<Outcome> {
    check(arguments)?;
    let wanted = arguments.choices.has_rules().then(|| Marking::alone(&arguments.choices)).transpose()?;
    let target = Target::of(command, arguments.jdk.as_deref())?;
    // If the JDK is a marked image, its own rules apply.
    let checks_properties = match fit::checks_properties(&target.home)? {
        Some(checks) => checks,
        None => !arguments.choices.typestate.is_empty(),
    };
    if arguments.recording.is_given("typestate-budget") && !checks_properties {
        bail!("--typestate-budget needs properties; add --typestate, or leave it out");
    }
    let kind = if checks_properties { FOUND } else { PRINTED };
    // The rules of properties print nothing by themselves.
    let prints =
        !checks_properties || !arguments.choices.markers.is_empty() || arguments.recording.is_given("client");
    let is_ours = |home: &Path| -> Result<()> {
        wanted.as_ref().map(|wanted| fit::check_marked(home, wanted)).transpose()?;
        Ok(())
    };
    files::run(arguments, command, rest, &kind, is_ours, |from, place| {
        let to = place(None);
        if checks_properties {
            put_report(from, &to, arguments.verbosity.quiet)?;
        }
        if prints {
            // If there is a report, this file goes beside it.
            let to = if checks_properties { to.with_extension(PRINTED.extension) } else { to };
            put_printed(&from.with_extension(PRINTED.extension), &to, arguments.verbosity.quiet)?;
        }
        Ok(())
    })
}

/// Refuses options that only apply to profiles.
fn check(arguments: &Run) -> Result<()> {
    arguments.recording.check(ToolName::Markers)?;
    arguments.library.check_none(ToolName::Markers)?;
    arguments.wanted.check_none(ToolName::Markers)
}

/// Moves a report to its place, and reports its contents.
pub fn put_report(from: &Path, to: &Path, quiet: bool) -> Result<()> {
    let file = File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    let report = Report::read(BufReader::new(file)).with_context(|| from.display().to_string())?;
    move_file(from, to)?;
    if !report.is_whole {
        say(&format!(
            "cctrewrite: {}: the report is truncated: the JVM was killed while it wrote",
            to.display()
        ));
    }
    if quiet {
        return Ok(());
    }
    // Counts objects with a violation, as the report does.
    let violations = |of: Option<&str>| {
        let found = report.violations.iter().filter(|violation| of.is_none_or(|of| violation.property == of));
        counted(found.map(|violation| violation.count).sum(), "violation")
    };
    say(&format!("cctrewrite: {}: {}", to.display(), violations(None)));
    for property in &report.properties {
        say(&format!(
            "  {}: {} in {} of {}",
            property.name,
            violations(Some(&property.name)),
            counted(property.events, "event"),
            counted(property.objects, "object")
        ));
    }
    for note in &report.notes {
        say(&format!("note: {}", readable(note.as_bytes())));
    }
    say(&format!("to see it: cctrewrite typestate report {}", shell_word(to)));
    Ok(())
}

/// Moves what clients printed to its place. Reports the lines of the runtime in it: the markers
/// with the highest counts, and notes.
pub fn put_printed(from: &Path, to: &Path, quiet: bool) -> Result<()> {
    let text = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    move_file(from, to)?;
    if quiet {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text);
    let (mut counts, mut others) = (Vec::new(), Vec::new());
    for line in text.lines().filter_map(|line| line.strip_prefix(OURS)) {
        match counted_marker(line) {
            Some(count) => counts.push((count, line)),
            None => others.push(line),
        }
    }
    // Names in these lines come from programs and clients.
    let line = |line: &str| readable(line.as_bytes());
    say(&format!("cctrewrite: {}: {}", to.display(), line(others.first().copied().unwrap_or("nothing"))));
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    for (_, most) in counts.iter().filter(|(count, _)| *count > 0).take(TOP) {
        say(&format!("  {}", line(most)));
    }
    for note in others.iter().skip(1) {
        say(&format!("note: {}", line(note)));
    }
    Ok(())
}

/// The count in a line about a marker; `None` for other lines. Such a line begins with the count, a
/// class, and the marker's number in this class.
fn counted_marker(line: &str) -> Option<u64> {
    let mut words = line.split(' ');
    let count = words.next()?.parse().ok()?;
    words.nth(1)?.parse::<u32>().ok().map(|_| count)
}

#[cfg(test)]
mod tests {
    use super::counted_marker;

    #[test]
    fn counts_are_distinguished_from_other_lines() {
        assert_eq!(counted_marker("12 com.acme.Main 3 work at method main ()V line 5"), Some(12));
        for other in [
            "12 delivered, of 3 markers in classes that came to one",
            "4 not delivered, since clients came there themselves",
            "client A threw b",
            "",
        ] {
            assert_eq!(counted_marker(other), None, "{other}");
        }
    }
}
