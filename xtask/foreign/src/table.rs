//! The figures, as a section of docs/internals/foreign.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cct_profile::report::grouped;
use xtask_bench::page::megabytes;

use super::outcome::{OnJdk, SetResult};

/// Maximum number of listed names of each kind; the rest are counted.
const NAMED: usize = 8;

/// The section. Writing to a string cannot fail.
pub fn section(tried: &[SetResult], skipped: &[String]) -> String {
    let mut text = String::from("## Figures\n\nWritten by `cargo xtask foreign`.\n\n");
    for one in tried {
        let _ = writeln!(text, "* `{}`: {}. {}", one.set.name, one.set.about, one.versions.join(", "));
    }
    if !skipped.is_empty() {
        let _ = writeln!(text, "\nSkipped, since it was missing: {}", skipped.join(", "));
    }
    text += "\n| set | jars | classes | methods | MB | read and written, the same | refused by \
             cctrewrite's reader | cafebabe disagrees | JDK 25 disagrees |\n";
    text += "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for one in tried {
        let survey = &one.survey;
        let all = survey.same + (survey.changed.len() + survey.refused.len()) as u64;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            one.set.name,
            one.jars,
            count(all),
            count(survey.methods),
            megabytes(survey.bytes),
            count(survey.same),
            survey.refused.len(),
            survey.cafebabe.len(),
            survey.jdk.len(),
        );
    }
    text += "\n| set | JDK | instrumented s | checked classes | s | proven probes | findings | linked, plain | refused, plain | s | way | linked | s | different | known |\n";
    text += "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|\n";
    for one in tried {
        for on in &one.on {
            for run in &on.profiled {
                let _ = writeln!(
                    text,
                    "| {} | {} | {:.0} | {} | {:.0} | {} | {} | {} | {} | {:.0} | {} | {} | {:.0} | {} | {} |",
                    one.set.name,
                    on.version,
                    on.instrumented.seconds,
                    count(on.checked.compared),
                    on.checked.seconds,
                    count(on.checked.probes),
                    on.checked.findings.len(),
                    count(on.plain.good() as u64),
                    count((on.plain.classes.len() - on.plain.good()) as u64),
                    on.plain.seconds,
                    run.way.word(),
                    count(run.linked.good() as u64),
                    run.linked.seconds,
                    run.unknown.len() + run.known.len(),
                    run.known.len(),
                );
            }
        }
    }
    text += "\nOmitted methods and unusual treatments:\n\n";
    for one in tried {
        for on in &one.on {
            let _ = writeln!(
                text,
                "* `{}` on JDK {} ({}): {}",
                one.set.name,
                on.version,
                on.full_version,
                left_out(on)
            );
        }
    }
    for one in tried {
        for line in details(one) {
            let _ = writeln!(text, "\n{line}");
        }
    }
    text
}

/// Methods by treatment, and unusual properties.
fn left_out(on: &OnJdk) -> String {
    let steps = &on.instrumented;
    let mut parts: Vec<String> =
        steps.treatments.iter().map(|(name, number)| format!("{} {name}", count(*number))).collect();
    parts.push(format!("{} warnings", steps.warnings.len()));
    parts.extend(
        steps.dropped.iter().map(|(name, number)| format!("attribute {name} of code in {number} classes")),
    );
    parts.extend(on.checked.unchecked.iter().map(|(what, number)| format!("not checked: {what} ({number})")));
    let refused = on.plain.refused().into_iter().map(|(kind, number)| format!("{number} {kind}"));
    parts.push(format!("refused by the plain JVM: {}", refused.collect::<Vec<_>>().join(", ")));
    parts.join("; ")
}

/// The lists of details.
fn details(one: &SetResult) -> Vec<String> {
    let name = one.set.name;
    let mut lines = Vec::new();
    let refused: Vec<String> =
        one.survey.refused.iter().map(|(place, why)| format!("{place}: {why}")).collect();
    named(&mut lines, &format!("{name}: refused by cctrewrite's reader"), &refused);
    named(&mut lines, &format!("{name}: NOT WRITTEN AS READ"), &one.survey.changed);
    named(&mut lines, &format!("{name}: cafebabe disagrees"), &one.survey.cafebabe);
    named(&mut lines, &format!("{name}: the reader of JDK 25 disagrees"), &one.survey.jdk);
    for on in &one.on {
        let name = format!("{name}, JDK {}", on.version);
        named(&mut lines, &format!("{name}: FINDINGS"), &on.checked.findings);
        named(&mut lines, &format!("{name}: warnings"), &on.instrumented.warnings);
        named(&mut lines, &format!("{name}: notices"), &on.instrumented.notices);
        for run in &on.profiled {
            named(&mut lines, &format!("{name}, {}: DIFFERENT", run.way.word()), &run.unknown);
            let mut causes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for (text, cause) in &run.known {
                causes.entry(*cause).or_default().push(text.clone());
            }
            for (cause, texts) in causes {
                named(&mut lines, &format!("{name}, {}: different, since {cause}", run.way.word()), &texts);
            }
        }
    }
    lines
}

/// A heading with the number of lines, and the first of them.
fn named(lines: &mut Vec<String>, heading: &str, all: &[String]) {
    if all.is_empty() {
        return;
    }
    let mut text = format!("{heading} ({}):\n\n", count(all.len() as u64));
    for line in all.iter().take(NAMED) {
        let _ = writeln!(text, "    {line}");
    }
    if all.len() > NAMED {
        let _ = writeln!(text, "    and {} more", count((all.len() - NAMED) as u64));
    }
    lines.push(text.trim_end().to_owned());
}

fn count(number: u64) -> String {
    grouped(number.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_named_in_part_and_counted_whole() {
        let mut lines = Vec::new();
        named(&mut lines, "x", &[]);
        assert!(lines.is_empty());
        named(&mut lines, "x", &vec!["y".to_owned(); NAMED + 3]);
        assert!(
            lines[0].starts_with("x (11):\n\n    y\n") && lines[0].ends_with("and 3 more"),
            "{}",
            lines[0]
        );
    }
}
