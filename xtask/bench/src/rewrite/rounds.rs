//! The rounds of measurements on one input, in which all subjects take turns.

use anyhow::Result;
use xtask_tools::jdks::Jdk;

use super::inputs::Input;
use super::row::Row;
use super::subject::{Bench, Sample, Subject};

/// Measures everything on one input, in rounds. Collects failures in `missing`.
pub fn measure(
    bench: &Bench,
    input: &Input,
    jdk: &Jdk,
    subjects: &[Subject],
    rounds: u32,
    warm_up: bool,
    missing: &mut Vec<String>,
) -> Result<Vec<Row>> {
    let title = input.name.title();
    eprintln!("{title}: {} classes", input.classes);
    let mut runs: Vec<(Subject, Vec<Sample>)> = Vec::new();
    for &subject in subjects {
        if !bench.has(subject) {
            continue; // The section says why.
        }
        // A first round fills the file cache with the programs, and is not counted; later inputs
        // are read once.
        let is_warm_up =
            matches!(subject, Subject::PlainCopy) || (warm_up && !matches!(subject, Subject::LaterPasses(_)));
        if is_warm_up && let Err(error) = bench.measure(subject, input, jdk) {
            give_up(subject, title, error, missing)?;
            continue;
        }
        runs.push((subject, Vec::new()));
    }
    for round in 0..rounds {
        eprintln!("round {} of {rounds}", round + 1);
        // Interleaved, so that a slow minute of the machine affects all; each round starts with
        // another one.
        let count = runs.len();
        for turn in 0..count {
            let (subject, samples) = &mut runs[(round as usize + turn) % count];
            if !subject.is_in_round(round) {
                continue;
            }
            match bench.measure(*subject, input, jdk) {
                Ok(sample) => {
                    let seconds: Vec<String> =
                        sample.seconds.iter().map(|seconds| format!("{seconds:.3}")).collect();
                    eprintln!("  {:<58} {} s", subject.name(), seconds.join(" "));
                    if sample.left > 0 {
                        say(
                            missing,
                            format!(
                                "{title}, {}: {} classes (left as they were)",
                                subject.name(),
                                sample.left
                            ),
                        );
                    }
                    samples.push(sample);
                }
                Err(error) => give_up(*subject, title, error, missing)?,
            }
        }
    }
    Ok(runs.iter().filter_map(|(subject, samples)| Row::of(*subject, samples)).collect())
}

/// Handles a failed run: fails for cctrewrite, and adds a line for a foreign library.
fn give_up(subject: Subject, title: &str, error: anyhow::Error, missing: &mut Vec<String>) -> Result<()> {
    if subject.is_ours() {
        return Err(error);
    }
    let first_line = format!("{error:#}").lines().next().unwrap_or_default().to_owned();
    say(missing, format!("{title}, {}: failed ({first_line})", subject.name()));
    Ok(())
}

/// Adds a line about a failure, once.
fn say(missing: &mut Vec<String>, what: String) {
    if !missing.contains(&what) {
        eprintln!("{what}");
        missing.push(what);
    }
}
