//! Printed results: the details of each program, and a table in Markdown at the end.

use std::fmt::Write as _;

use anyhow::Result;
use xtask_tools::print::print_line;

use super::case::{Case, ProfiledRun};
use super::known_causes;
use super::outcome::Outcome;

/// Maximum number of shown differences of one run.
const SHOWN: usize = 8;

/// Prints the details of one program.
///
/// # Errors
/// Fails if the output is closed.
pub fn details(case: &Case) -> Result<()> {
    let mut text = format!("\n{} on JDK {}: {}\n", case.program.name, case.jdk, case.program.about);
    for package in &case.packages {
        text += &format!("  package    {package}\n");
    }
    text += &format!("  plain      {}\n", times(&case.plain));
    for run in &case.profiled {
        write!(text, "  {:<10} {}", run.mode.word(), times(&run.outcome))?;
        if let Some(Ok(totals)) = &run.outcome.profile {
            let [contexts, calls, bytecodes] =
                [totals.contexts as u64, totals.calls, totals.bytecodes].map(grouped);
            write!(text, ", {contexts} contexts, {calls} calls, {bytecodes} bytecodes")?;
        }
        text.push('\n');
        if let Some(Ok(totals)) = &run.outcome.profile {
            for note in &totals.notes {
                text += &format!("    note: {note}\n");
            }
        }
        for difference in run.differences.iter().take(SHOWN) {
            text += &format!("    differs: {difference}\n");
        }
        if run.differences.len() > SHOWN {
            text += &format!("    ... and {} more differences\n", run.differences.len() - SHOWN);
        }
        if let Some(known) = run.known {
            text += &format!("    known: {}\n", known.cause);
        } else if run.differences.is_empty() {
            text += "    same output, exit code and files\n";
            for stale in known_causes::entries(case.program.name, run.mode) {
                text += &format!("    no longer true, remove it from known_causes.rs: {}\n", stale.cause);
            }
        }
    }
    print_line(&text.trim_end())
}

/// Wall-clock time, processor time and memory of a run.
fn times(outcome: &Outcome) -> String {
    let (wall, cpu, peak) = (outcome.wall.as_secs_f64(), outcome.cpu_seconds, outcome.peak_kib / 1024);
    format!("{wall:.2} s, {cpu:.2} s of processor time, {peak} MB")
}

/// Prints the table.
///
/// # Errors
/// Fails if the output is closed.
pub fn summary(cases: &[Case], failed: usize, skipped: usize) -> Result<()> {
    print_line(
        &"\n| program | version | JDK | plain s | mode | profiled s | contexts | calls | bytecodes | |\n\
          |---|---|---:|---:|---|---:|---:|---:|---:|---|",
    )?;
    for case in cases {
        for run in &case.profiled {
            print_line(&row(case, run))?;
        }
    }
    let runs = || cases.iter().flat_map(|case| &case.profiled);
    let same = runs().filter(|run| run.differences.is_empty()).count();
    let known = runs().filter(|run| run.known.is_some()).count();
    let unknown = runs().filter(|run| run.is_unknown()).count();
    print_line(&format!(
        "\n{same} profiled runs the same, {known} known to differ, {unknown} different; {failed} programs failed, {skipped} skipped"
    ))
}

/// The version of a program: that of its first package which is named after it, else of its first.
pub fn version(case: &Case) -> &str {
    let is_own = |package: &&String| package.starts_with(case.program.name.trim_end_matches("-tests"));
    let package = case.packages.iter().find(is_own).or_else(|| case.packages.first());
    package.and_then(|package| package.split(' ').nth(1)).unwrap_or("JDK's")
}

/// Whether a run behaved equally, in a word, or why not.
pub fn verdict(run: &ProfiledRun) -> &'static str {
    match run {
        run if run.differences.is_empty() => "same",
        ProfiledRun { known: Some(known), .. } => known.cause,
        _ => "**different**",
    }
}

/// The line of a profiled run.
fn row(case: &Case, run: &ProfiledRun) -> String {
    let (version, verdict) = (version(case), verdict(run));
    let totals = run.outcome.profile.as_ref().and_then(|profile| profile.as_ref().ok());
    let number = |of: fn(&super::outcome::Totals) -> u64| {
        totals.map_or_else(String::new, |totals| grouped(of(totals)))
    };
    format!(
        "| {} | {version} | {} | {:.2} | {} | {:.2} | {} | {} | {} | {verdict} |",
        case.program.name,
        case.jdk,
        case.plain.wall.as_secs_f64(),
        run.mode.word(),
        run.outcome.wall.as_secs_f64(),
        number(|totals| totals.contexts as u64),
        number(|totals| totals.calls),
        number(|totals| totals.bytecodes),
    )
}

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1000, 1234567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
