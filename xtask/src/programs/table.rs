//! What is printed: the details of each program, and a table in Markdown at the end.

use std::fmt::Write as _;

use anyhow::Result;

use super::known;
use super::{Case, Mode, Profiled};
use crate::print_line;

/// So many differences of one run are shown.
const SHOWN: usize = 8;

/// Prints the details of one program.
///
/// # Errors
/// If nobody reads them any more.
pub fn details(case: &Case) -> Result<()> {
    let mut text = format!("\n{}: {}\n", case.program.name, case.program.about);
    for package in &case.packages {
        text += &format!("  package    {package}\n");
    }
    text += &format!("  plain      {:.2} s\n", case.plain.wall.as_secs_f64());
    for run in &case.profiled {
        write!(text, "  {:<10} {:.2} s", run.mode.word(), run.outcome.wall.as_secs_f64())?;
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
            for stale in known::entries(case.program.name, run.mode) {
                text += &format!("    no longer true, to be taken out of known.rs: {}\n", stale.cause);
            }
        }
    }
    print_line(&text.trim_end())
}

/// Prints the table.
///
/// # Errors
/// If nobody reads it any more.
pub fn summary(cases: &[Case], failed: &[&str], skipped: &[&str]) -> Result<()> {
    print_line(
        &"\n| program | version | plain s | offline s | contexts | calls | bytecodes | offline | untouched s | untouched |\n\
          |---|---|---:|---:|---:|---:|---:|---|---:|---|",
    )?;
    for case in cases {
        print_line(&row(case))?;
    }
    let runs = || cases.iter().flat_map(|case| &case.profiled);
    let same = runs().filter(|run| run.differences.is_empty()).count();
    let known = runs().filter(|run| run.known.is_some()).count();
    let unknown = runs().filter(|run| run.is_unknown()).count();
    print_line(&format!(
        "\n{same} profiled runs the same, {known} known to differ, {unknown} different; {} programs failed, {} skipped",
        failed.len(),
        skipped.len()
    ))
}

/// The line of a program.
fn row(case: &Case) -> String {
    let version = case.packages.first().and_then(|package| package.split(' ').nth(1)).unwrap_or("JDK's");
    let run = |mode| case.profiled.iter().find(|run| run.mode == mode);
    let seconds = |run: Option<&Profiled>| {
        run.map_or_else(String::new, |run| format!("{:.2}", run.outcome.wall.as_secs_f64()))
    };
    let verdict = |run: Option<&Profiled>| match run {
        None => "not run",
        Some(run) if run.differences.is_empty() => "same",
        Some(Profiled { known: Some(known), .. }) => known.cause,
        Some(_) => "**different**",
    };
    let (offline, untouched) = (run(Mode::Offline), run(Mode::Untouched));
    let totals = offline.or(untouched).and_then(|run| run.outcome.profile.as_ref()?.as_ref().ok());
    let number = |of: fn(&super::outcome::Totals) -> u64| {
        totals.map_or_else(String::new, |totals| grouped(of(totals)))
    };
    format!(
        "| {} | {version} | {:.2} | {} | {} | {} | {} | {} | {} | {} |",
        case.program.name,
        case.plain.wall.as_secs_f64(),
        seconds(offline),
        number(|totals| totals.contexts as u64),
        number(|totals| totals.calls),
        number(|totals| totals.bytecodes),
        verdict(offline),
        seconds(untouched),
        verdict(untouched),
    )
}

/// A number with its digits in groups of three.
fn grouped(number: u64) -> String {
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
