//! `cargo xtask bench typestate`: cost of the properties of iterators, adaptively and not (MTF
//! 2010, tables 4.6 and 4.7), compared with the plain program.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use xtask_programs::packages::ProgramFiles;
use xtask_programs::place::Place;
use xtask_tools::jdks::Jdk;
use xtask_tools::print::print_line;
use xtask_tools::process;

use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::run::geometric;
use super::run::works::Work;
use super::turns::{self, Choice, Measurements, Turns, Way};

/// Options of `cargo xtask bench typestate`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
}

/// The properties: the thesis' name, the file's name, the number of its table.
const PROPERTIES: [(&str, &str, &str); 2] =
    [("HasNext", "iterator", "4.6"), ("HasNextOnce", "iterator-once", "4.7")];

/// Whether events without effect are delivered, and the name of that kind.
const KINDS: [(&str, bool); 2] = [("adaptive", true), ("non-adaptive", false)];

/// Prefix of the line in which a JVM names its report.
const REPORT: &str = "cctrewrite: typestate: ";

/// A run's results for a property.
#[derive(Clone, Copy, Default)]
struct PropertyResult {
    /// Number of events that reached the automaton.
    heard: u64,
    /// Number of tracked objects.
    objects: u64,
    /// Number of objects that violate the property.
    violations: u64,
}

/// Index of the base: the plain program with the others' options.
const BASE: usize = 1;

/// A program in all ways: the plain one, the plain one with the options for speed of marked ones,
/// then the kinds of each property.
struct Row {
    name: &'static str,
    turns: Turns,
    found: Vec<PropertyResult>,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a JDK or a program is missing, or a run fails.
pub fn run(Arguments { choice }: &Arguments) -> Result<()> {
    let ground = choice.ground()?;
    let jdk = ground.jdks.first().context("no JDK")?;
    let measured = choice.each(&[], |work, fetched| measure(choice, &ground, jdk, work, fetched))?;
    let text = section(choice, jdk, &measured);
    if choice.only.is_empty() {
        print_line(&format!("wrote {}", write_section("typestate", &text)?.display()))
    } else {
        print_line(&text)
    }
}

/// Runs a program in all ways, in turns.
fn measure(choice: &Choice, ground: &Ground, jdk: &Jdk, work: &Work, fetched: &ProgramFiles) -> Result<Row> {
    let program = work.program;
    let folder = ground.work().join(program.name);
    let place = Place::prepare(program, choice.jdk, jdk, &folder, fetched)?;
    if !place.has_classes() {
        bail!("all its classes are the JDK's");
    }
    let report = folder.join("report");
    let mut ways = vec![Way::plain(&jdk.home, Vec::new())];
    for (property, file, _) in PROPERTIES {
        let mut common = place.mark(&ground.cctrewrite, &["--typestate", file], file)?;
        if ways.len() == BASE {
            ways.push(Way::plain_fast(&jdk.home, &common));
        }
        common.push(format!("-Dcctrewrite.typestate.out={}", report.display()));
        for (kind, is_adaptive) in KINDS {
            let mut options = common.clone();
            if !is_adaptive {
                options.push("-Dcctrewrite.typestate.adaptive=no".to_owned());
            }
            ways.push(Way { name: name_of(property, kind), home: &jdk.home, jars: file.to_owned(), options });
        }
    }
    let mut found = vec![PropertyResult::default(); ways.len()];
    let turns = turns::take(&place, &ways, choice.rounds, |at| {
        found[at] = found_in(&ground.cctrewrite, &report)?;
        let _ = fs::remove_file(&report);
        Ok(())
    })?;
    // Makes room for the next one.
    fs::remove_dir_all(&folder)?;
    Ok(Row { name: program.name, turns, found })
}

/// The name of a way in messages.
fn name_of(property: &str, kind: &str) -> &'static str {
    match (property, kind) {
        ("HasNext", "adaptive") => "HasNext, adaptive",
        ("HasNext", _) => "HasNext, non-adaptive",
        (_, "adaptive") => "HasNextOnce, adaptive",
        _ => "HasNextOnce, non-adaptive",
    }
}

/// Reads a report. A program without iterators of its own writes none.
fn found_in(cctrewrite: &Path, report: &Path) -> Result<PropertyResult> {
    if !report.is_file() {
        return Ok(PropertyResult::default());
    }
    let mut command = Command::new(cctrewrite);
    command.args(["typestate", "report", "--format", "json", "--fail-on", "never"]).arg(report);
    let json: Value = serde_json::from_str(&process::output(&mut command)?)?;
    let sum = |list: &str, key: &str| -> Result<u64> {
        let list = json[list].as_array().with_context(|| format!("a report without {list}"))?;
        let numbers = list.iter().map(|one| one[key].as_u64());
        numbers.sum::<Option<u64>>().with_context(|| format!("{key} in a report"))
    };
    Ok(PropertyResult {
        heard: sum("properties", "events")?,
        objects: sum("properties", "objects")?,
        violations: sum("violations", "count")?,
    })
}

fn section(choice: &Choice, jdk: &Jdk, measured: &Measurements<Row>) -> String {
    let Measurements { rows, left_out, loads: [before, after] } = measured;
    let mut text = format!(
        "## Typestate: `cargo xtask bench typestate`

Tables 4.6 and 4.7 of the thesis, on JDK {}: processor time of whole processes, compilers and collector included. The calls of iterators in the program's jars are events of one property. Plain: seconds, and with the options of `cctrewrite flags --fast`, which marked programs have. The other columns are multiples of the latter; medians of {} runs in turns, in parentheses the least and the most.
`adaptive` ignores events that change nothing; `events` are those that were processed. Load average {before:.2} before, {after:.2} after. {}.

- **Machine**: {}.
",
        jdk.full_version,
        choice.rounds,
        choice.origin(),
        machine::describe(),
    );
    for (at, (property, _, number)) in PROPERTIES.iter().enumerate() {
        let (adaptive, all) = (BASE + 1 + 2 * at, BASE + 2 + 2 * at);
        let _ = writeln!(
            text,
            "\n**{property}** (table {number}):\n\n| | plain, s | the same, --fast | adaptive | events | non-adaptive | events | less time | fewer events | objects | of which violate it |\n|---|---|---|---|---|---|---|---|---|---|---|"
        );
        for Row { name, turns, found } in rows {
            let base = turns.cpu[BASE];
            let _ = write!(text, "| {name} |");
            for of in &turns.cpu[..=BASE] {
                let _ = write!(text, " {:.2} ({:.2} to {:.2}) |", of.median, of.least, of.most);
            }
            for way in [adaptive, all] {
                let of = turns.cpu[way];
                let by = |seconds: f64| seconds / base.median;
                let _ = write!(
                    text,
                    " x {:.2} ({:.2} to {:.2}) | {} |",
                    by(of.median),
                    by(of.least),
                    by(of.most),
                    found[way].heard
                );
            }
            let less = |small: f64, large: f64| {
                if large > 0.0 { format!("{:.1} %", 100.0 * (1.0 - small / large)) } else { "-".to_owned() }
            };
            let _ = writeln!(
                text,
                " {} | {} | {} | {} |",
                less(turns.cpu[adaptive].median, turns.cpu[all].median),
                less(found[adaptive].heard as f64, found[all].heard as f64),
                found[adaptive].objects,
                found[adaptive].violations
            );
        }
        let mean = |way: usize| {
            geometric(
                &rows
                    .iter()
                    .map(|row| row.turns.cpu[way].median / row.turns.cpu[BASE].median)
                    .collect::<Vec<_>>(),
            )
        };
        let _ = writeln!(
            text,
            "| *geometric mean* | | | **x {:.2}** | | **x {:.2}** | | | | | |",
            mean(adaptive),
            mean(all)
        );
    }
    let turns = rows.iter().map(|row| &row.turns);
    text += &turns::remarks(left_out, turns, |remark| remark.contains(REPORT));
    text += "Standard error has the line that names the report besides.\n";
    text
}
