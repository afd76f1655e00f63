//! `cargo xtask bench typestate`: what the properties of iterators cost, adaptively and not (MTF 2010, tables 4.6 and 4.7), beside the plain program.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::run::geometric;
use super::run::works::{Work, works};
use super::turns::{self, Turns, Way};
use crate::jdks::{self, Fetch, Jdk};
use crate::programs::packages::{Fetched, Packages};
use crate::programs::place::Place;
use crate::{print_line, process};

/// Options of `cargo xtask bench typestate`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDK.
    #[arg(long, value_name = "VERSION", default_value_t = 17, value_parser = jdks::supported)]
    jdk: u32,
    /// How often each program is run in each way, in turns.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// These programs alone (repeatable). The section is printed, and docs/benchmarks.md stays as it is.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// A program `cctrewrite` that was built before, in the place of one that is built for release now.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// The properties: the thesis' name, that of the file, the number of its table.
const PROPERTIES: [(&str, &str, &str); 2] =
    [("HasNext", "iterator", "4.6"), ("HasNextOnce", "iterator-once", "4.7")];

/// Whether events that change nothing are heard, and what that is called.
const KINDS: [(&str, bool); 2] = [("adaptive", true), ("non-adaptive", false)];

/// How the line begins that says where a JVM leaves its report.
const REPORT: &str = "cctrewrite: typestate: ";

/// What a run found of the property.
#[derive(Clone, Copy, Default)]
struct Found {
    /// Events that came to the automaton.
    heard: u64,
    /// Objects that were followed.
    objects: u64,
    /// Objects that violate the property.
    violations: u64,
}

/// The way that others are held against: the plain program with their options.
const BASE: usize = 1;

/// A program in all ways: the plain one, the same with the options for speed that marked ones have, then the kinds of each property.
struct Row {
    name: &'static str,
    turns: Turns,
    found: Vec<Found>,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// If a JDK or a program is not to be had, or a run fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut works = works()?;
    for name in &arguments.only {
        ensure!(works.iter().any(|work| work.program.name == name), "there is no program {name}");
    }
    works.retain(|work| {
        arguments.only.is_empty() || arguments.only.iter().any(|only| only == work.program.name)
    });
    let ground = match &arguments.program {
        Some(program) => Ground::with(&[arguments.jdk], program)?,
        None => Ground::new(&[arguments.jdk])?,
    };
    let jdk = ground.jdks.first().context("no JDK")?;
    let mut packages = Packages::new(Fetch::IfMissing)?;
    if !arguments.now {
        machine::wait_until_quiet();
    }
    let load_before = machine::load().unwrap_or(f64::NAN);
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for work in &works {
        let name = work.program.name;
        let row = match work.why_not_on(arguments.jdk) {
            Some(why) => Err(anyhow::anyhow!(why)),
            None => packages
                .get(&work.program)
                .and_then(|fetched| measure(arguments, &ground, jdk, work, &fetched)),
        };
        match row {
            Ok(row) => rows.push(row),
            Err(why) => {
                eprintln!("{name} is left out: {why:#}");
                left_out.push(format!("{name} ({why:#})"));
            }
        }
    }
    ensure!(!rows.is_empty(), "nothing was measured: {}", left_out.join("; "));
    let loads = [load_before, machine::load().unwrap_or(f64::NAN)];
    let text = section(arguments, jdk, &rows, &left_out, loads);
    if arguments.only.is_empty() {
        print_line(&format!("wrote {}", write_section("typestate", &text)?.display()))
    } else {
        print_line(&text)
    }
}

/// Runs a program in all ways, in turns.
fn measure(arguments: &Arguments, ground: &Ground, jdk: &Jdk, work: &Work, fetched: &Fetched) -> Result<Row> {
    let program = work.program;
    let folder = ground.work().join(program.name);
    let place = Place::prepare(program, arguments.jdk, jdk, &folder, fetched)?;
    if !place.has_classes() {
        bail!("all its classes are the JDK's");
    }
    let report = folder.join("report");
    let mut ways = vec![Way::plain(Vec::new())];
    for (property, file, _) in PROPERTIES {
        let mut common = place.mark(&ground.cctrewrite, &["--typestate", file], file)?;
        if ways.len() == BASE {
            let for_speed = common.iter().filter(|option| option.starts_with("-XX:")).cloned();
            ways.push(Way { name: "plain, --fast", ..Way::plain(for_speed.collect()) });
        }
        common.push(format!("-Dcctrewrite.typestate.out={}", report.display()));
        for (kind, is_adaptive) in KINDS {
            let mut options = common.clone();
            if !is_adaptive {
                options.push("-Dcctrewrite.typestate.adaptive=no".to_owned());
            }
            ways.push(Way { name: name_of(property, kind), jars: file.to_owned(), options });
        }
    }
    let mut found = vec![Found::default(); ways.len()];
    let turns = turns::take(&place, &jdk.home, &ways, arguments.rounds, |at| {
        found[at] = found_in(&ground.cctrewrite, &report)?;
        let _ = fs::remove_file(&report);
        Ok(())
    })?;
    // Room for the next one.
    fs::remove_dir_all(&folder)?;
    Ok(Row { name: program.name, turns, found })
}

/// What a way is called where something is said of it.
fn name_of(property: &str, kind: &str) -> &'static str {
    match (property, kind) {
        ("HasNext", "adaptive") => "HasNext, adaptive",
        ("HasNext", _) => "HasNext, non-adaptive",
        (_, "adaptive") => "HasNextOnce, adaptive",
        _ => "HasNextOnce, non-adaptive",
    }
}

/// What a report says. A program that comes to no iterator of its own leaves none.
fn found_in(cctrewrite: &Path, report: &Path) -> Result<Found> {
    if !report.is_file() {
        return Ok(Found::default());
    }
    let mut command = Command::new(cctrewrite);
    command.args(["typestate", "report", "--format", "json", "--fail-on", "never"]).arg(report);
    let json: Value = serde_json::from_str(&process::output(&mut command)?)?;
    let sum = |list: &str, key: &str| -> Result<u64> {
        let list = json[list].as_array().with_context(|| format!("a report without {list}"))?;
        let numbers = list.iter().map(|one| one[key].as_u64());
        numbers.sum::<Option<u64>>().with_context(|| format!("{key} in a report"))
    };
    Ok(Found {
        heard: sum("properties", "events")?,
        objects: sum("properties", "objects")?,
        violations: sum("violations", "count")?,
    })
}

fn section(
    arguments: &Arguments,
    jdk: &Jdk,
    rows: &[Row],
    left_out: &[String],
    [before, after]: [f64; 2],
) -> String {
    let mut text = format!(
        "## Typestate: `cargo xtask bench typestate`

Tables 4.6 and 4.7 of the thesis, on JDK {}: processor time of whole processes, compilers and collector included. The calls of iterators in the program's jars are events of one property. Plain: seconds, and with the options of `cctrewrite flags --fast`, which marked programs have; the others: how many times the latter; medians of {} runs in turns, in parentheses the least and the most.
Adaptively an event that changes nothing is let go; `events` are those that were heard. Load average {before:.2} before, {after:.2} after. {}, commit {} (`+`: with changes){}.

- **Machine**: {}.
",
        jdk.full_version,
        arguments.rounds,
        machine::date(),
        machine::commit(),
        if arguments.program.is_some() { ", by a program that was built before" } else { "" },
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
            let less = |small: f64, large: f64| match large > 0.0 {
                true => format!("{:.1} %", 100.0 * (1.0 - small / large)),
                false => "-".to_owned(),
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
    text += "\n";
    if !left_out.is_empty() {
        let _ = writeln!(text, "Not measured: {}.\n", left_out.join("; "));
    }
    let remarks = rows.iter().flat_map(|row| &row.turns.remarks).map(String::as_str);
    let remarks: Vec<&str> = remarks.filter(|remark| !remark.contains(REPORT)).collect();
    text += "Exit codes, standard output, standard error (but for the line that names the report) and files are those of the plain run in all ways";
    match remarks.is_empty() {
        true => text += ".\n",
        false => {
            let _ = writeln!(text, ", with these remarks:\n\n- {}", remarks.join("\n- "));
        }
    }
    text
}
