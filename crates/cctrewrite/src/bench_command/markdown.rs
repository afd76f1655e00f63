//! `--format markdown`: a summary for a pull request (docs/ci/pull-requests.md).

use std::cmp::Ordering;
use std::io::{self, Write};

use cct_build::text::counted;
use cct_profile::diff::Change;
use cct_profile::escape::{markdown, markdown_code};
use cct_profile::report::grouped;

use super::baseline::Conditions;
use super::causes::Cause;
use super::history::{HistoryLine, Trend};
use super::numbers::{counted_entries, signed, with_percent};
use super::output::{CAUSES, METHODS, NAME, Results, changes};
use super::variation::Variation;
use super::verdict::{Judgement, Verdict};

/// Writes a line with the verdict, a table of entries, the methods that changed most, and apart
/// from these the entries whose counts vary too much.
pub fn write(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    verdict(results, out)?;
    let (flaky, mut others): (Vec<&Judgement>, Vec<&Judgement>) =
        results.judged.iter().partition(|judged| is_flaky(judged));
    others.sort_by_key(|judged| rank(judged));
    if !others.is_empty() {
        entries(&others, results, out)?;
    }
    for judged in others {
        if let Verdict::Compared { change, .. } = &judged.verdict {
            methods(judged, *change, results, out)?;
        }
    }
    if !flaky.is_empty() {
        flaky_entries(&flaky, results, out)?;
    }
    for judged in results.judged.iter().filter(|judged| judged.elsewhere > 0) {
        let (number, metric) = (grouped(judged.elsewhere), results.metric.name());
        writeln!(
            out,
            "\n{}: other threads executed {number} {metric} meanwhile, which are not counted.",
            code(judged)
        )?;
    }
    let Conditions { java, settings, warm_up, .. } = &results.conditions;
    let warm_up = counted((*warm_up).into(), "run");
    write!(out, "\nJava {}, {}, {warm_up} to warm up", markdown(java), markdown(settings))?;
    if let Some(exactness) = &results.exactness {
        write!(out, ". Exact: {}", markdown(&exactness.to_string()))?;
    }
    writeln!(out, "{}", markdown(&results.compared_alone()))
}

fn code(judged: &Judgement) -> String {
    markdown_code(judged.entry.text())
}

/// Whether the entry proves nothing, since its counts vary.
fn is_flaky(judged: &Judgement) -> bool {
    matches!(judged.verdict, Verdict::Flaky { .. } | Verdict::Unsteady { .. })
}

/// What a reader wants to see first.
fn rank(judged: &Judgement) -> u8 {
    match &judged.verdict {
        Verdict::Compared { exceeds: true, .. } => 0,
        Verdict::Unknown => 1,
        Verdict::Compared { change, .. } if change.size() > 0 => 2,
        _ => 3,
    }
}

fn verdict(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    if !results.fails() {
        let word = if results.arguments.update { "has stored" } else { "passed" };
        return writeln!(out, "**{NAME} {word}.** {}", markdown(&results.verdict()));
    }
    let number = |is_meant: fn(&Verdict) -> bool| {
        results.judged.iter().filter(|judged| is_meant(&judged.verdict)).count() as u128
    };
    let grew = format!("grew by more than {}", results.arguments.fail_above);
    let parts = [
        (number(|verdict| matches!(verdict, Verdict::Compared { exceeds: true, .. })), &*grew),
        (number(|verdict| matches!(verdict, Verdict::Unknown)), "not in the baseline"),
        (number(|verdict| matches!(verdict, Verdict::Flaky { .. })), "flaky"),
        (number(|verdict| matches!(verdict, Verdict::Unsteady { .. })), "varies too much to be stored"),
    ];
    let parts = parts.iter().filter(|(number, _)| *number > 0);
    let parts: Vec<String> = parts.map(|(number, what)| format!("{} {what}", grouped(*number))).collect();
    let entries = counted_entries(results.judged.len());
    writeln!(out, "**{NAME} failed.** {entries}: {}", parts.join(", "))
}

/// Writes the table of entries that can be judged.
fn entries(all: &[&Judgement], results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let history = results.history.as_deref();
    let (head, ruler) = if history.is_some() { (" trend |", ":---|") } else { ("", "") };
    writeln!(out, "\n| entry | baseline | {} now | change | result |{head}", results.metric.name())?;
    writeln!(out, "|:---|---:|---:|---:|:---|{ruler}")?;
    for judged in all {
        let now = results.scope.count(&judged.counts).of(results.metric);
        let base = match &judged.verdict {
            Verdict::Compared { change, .. } => Some(change.base),
            Verdict::Stored { before } => before.map(|before| before.of(results.metric)),
            _ => None,
        };
        let change = base.map(|base| Change { base, new: now });
        let range = judged.variation.as_ref().map(|variation| variation.range(results.metric));
        let varies = range.map_or(String::new(), |range| format!(", varies{}", by_percent(range)));
        writeln!(
            out,
            "| {} | {} | {} | {} | {}{varies} |{}",
            code(judged),
            base.map_or(String::new(), grouped),
            grouped(now),
            change.map_or("new".to_owned(), with_percent),
            result(&judged.verdict),
            history.map_or(String::new(), |lines| trend(lines, judged, results.arguments.last))
        )?;
    }
    Ok(())
}

/// The cell with the trend of an entry.
fn trend(lines: &[HistoryLine], judged: &Judgement, last: usize) -> String {
    let Some(trend) = Trend::of_entry(lines, judged.entry.text(), last) else {
        return " |".to_owned();
    };
    let runs = counted(trend.runs.len() as u64, "run");
    format!(" {} {} in {runs} |", trend.curve(), with_percent(trend.change()))
}

fn result(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Compared { exceeds: true, .. } => "**exceeds**",
        Verdict::Unknown => "**not in the baseline**: store it with `--update`",
        other => other.status().name(),
    }
}

fn by_percent(range: Change) -> String {
    range.percent().map_or(String::new(), |percent| format!(" by {percent:.2} %"))
}

/// Writes the methods that changed most in the direction of their entry.
fn methods(
    judged: &Judgement,
    of_entry: Change,
    results: &Results<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let direction = of_entry.direction();
    let is_meant = |change: &Change| direction == Ordering::Equal || change.direction() == direction;
    let changed: Vec<_> = changes(judged).iter().filter(|(_, change)| is_meant(change)).collect();
    if changed.is_empty() {
        return Ok(());
    }
    let what = match direction {
        Ordering::Greater => "grew",
        Ordering::Less => "shrank",
        Ordering::Equal => "changed",
    };
    writeln!(out, "\n#### {}: methods that {what} most\n", code(judged))?;
    writeln!(out, "| method | baseline | {} now | change | source |", results.metric.name())?;
    writeln!(out, "|:---|---:|---:|---:|:---|")?;
    for (method, change) in changed.iter().take(METHODS) {
        let source = results.sources.find(method);
        let source = source.map_or(String::new(), |place| format!("{}:{}", place.file, place.line));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            markdown_code(method),
            grouped(change.base),
            grouped(change.new),
            signed(*change),
            markdown_code(&source)
        )?;
    }
    if changed.len() > METHODS {
        writeln!(out, "\nand {} more", counted((changed.len() - METHODS) as u64, "method"))?;
    }
    Ok(())
}

/// Writes the entries whose counts vary, with what may be the cause.
fn flaky_entries(all: &[&Judgement], results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n#### Flaky: counts that vary between JVMs, which proves no regression\n")?;
    writeln!(out, "| entry | baseline | least {} | most | result |", results.metric.name())?;
    writeln!(out, "|:---|---:|---:|---:|:---|")?;
    for judged in all {
        let base = match judged.verdict {
            Verdict::Flaky { base } => grouped(base),
            _ => String::new(),
        };
        let Some(variation) = &judged.variation else { continue };
        let range = variation.range(results.metric);
        let result = judged.verdict.status().name();
        let (least, most, varies) = (grouped(range.base), grouped(range.new), by_percent(range));
        writeln!(out, "| {} | {base} | {least} | {most} | {result}, varies{varies} |", code(judged))?;
    }
    writeln!(out)?;
    for judged in all {
        if let Some(variation) = &judged.variation {
            why(judged, variation, out)?;
        }
    }
    Ok(())
}

fn why(judged: &Judgement, variation: &Variation, out: &mut dyn Write) -> io::Result<()> {
    let entry = code(judged);
    if let Some(first) = variation.first.as_ref().and_then(|first| first.path.last()) {
        writeln!(out, "- {entry} differs first in {}", markdown_code(first))?;
    }
    for (Cause { source, caller, reader }, calls) in variation.causes.iter().take(CAUSES) {
        let times = counted(u64::try_from(*calls).unwrap_or(u64::MAX), "call");
        let (caller, reader) = (markdown_code(caller), markdown_code(reader));
        let (does, remedy) = (source.in_words(), source.remedy());
        writeln!(out, "- {entry}: {caller} {does} ({reader}, {times}): {remedy}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Cells, compared, four_entries, history, results, tables};
    use super::*;

    fn written_with(judged: Vec<Judgement>, history: Option<Vec<HistoryLine>>) -> String {
        let mut out = Vec::new();
        results(judged, history, |results| write(results, &mut out).unwrap());
        String::from_utf8(out).unwrap()
    }

    fn written(judged: Vec<Judgement>) -> String {
        written_with(judged, None)
    }

    #[test]
    fn regressions_come_first_and_flaky_entries_stand_apart() {
        let text = written(four_entries());
        assert!(
            text.starts_with(
                "**cctrewrite bench failed.** 4 entries: 1 grew by more than 0 %, 1 not in the baseline, 1 flaky\n"
            ),
            "{text}"
        );
        let tables = tables(&text);
        let cells = |rows: &[[&str; 5]]| -> Cells {
            rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect()
        };
        let compared = cells(&[
            ["entry", "baseline", "bytecodes now", "change", "result"],
            ["app.A.grows", "1,203,000", "1,203,400", "+400 (+0.03 %)", "exceeds"],
            ["app.A.`odd`(\"\\\\|*_x_*\")", "", "5", "new", "not in the baseline: store it with --update"],
            ["app.A.same", "10", "10", "0", "passes"],
        ]);
        assert_eq!(tables[0], compared);
        let methods = cells(&[
            ["method", "baseline", "bytecodes now", "change", "source"],
            ["app.A.grows()V", "3,000", "3,500", "+500", ""],
        ]);
        assert_eq!(tables[1], methods, "what shrank is not why it grew");
        let flaky = cells(&[
            ["entry", "baseline", "least bytecodes", "most", "result"],
            ["app.A.drifts(\"a|b\")", "1,005", "1,000", "1,010", "flaky, varies by 1.00 %"],
        ]);
        assert_eq!(tables[2..], [flaky]);
        let (_, apart) = text.split_once("#### Flaky: ").unwrap();
        assert!(apart.contains("(`java.lang.System.nanoTime`, 2 calls): pass the time in"), "{apart}");
    }

    #[test]
    fn the_trend_is_that_of_the_history() {
        let lines = history();
        let judged = vec![compared(&lines[0].entry, Change { base: 1200, new: 1850 }, &[])];
        let text = written_with(judged, Some(lines));
        let row = &tables(&text)[0][1];
        assert_eq!(row[0], "app.A.<b>(\"|\")");
        assert_eq!(row[5], "▁▂▂█▇ +850 (+85.00 %) in 5 runs", "the run on another JDK is none of them");
    }

    #[test]
    fn a_passed_summary_says_so_in_its_first_line() {
        let same = four_entries().into_iter().filter(|judged| judged.entry.text() == "app.A.same").collect();
        let text = written(same);
        assert!(
            text.starts_with("**cctrewrite bench passed.** 1 entry: none grew by more than 0 %\n"),
            "{text}"
        );
        assert!(!text.contains("####"), "{text}");
    }
}
