//! `cargo xtask bench markers`: what markers cost, by how many of a program's methods are marked (MTF 2010, table 3.5), with a client that does nothing, beside the plain program.

mod ways;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::run::geometric;
use super::run::works::{Work, works};
use super::turns::{self, Turns};
use crate::jdks::{self, Fetch, Jdk, tool};
use crate::programs::packages::{Fetched, Packages};
use crate::programs::place::Place;
use crate::{print_line, process, workspace};
use ways::{WAYS, Way};

/// Options of `cargo xtask bench markers`.
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
    /// These ways alone, beside the plain one: `0`, `10` ... `100`, `off`, `simple` (repeatable). The section is printed.
    #[arg(long, value_name = "NAME")]
    way: Vec<String>,
    /// A program `cctrewrite` that was built before, in the place of one that is built for release now.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Options for the JVM (repeatable). The section is printed.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    java_option: Vec<String>,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// A program in all ways.
struct Row {
    name: &'static str,
    turns: Turns,
    /// Markers that were told of, entries alone.
    told: Vec<u64>,
}

/// What the programs run on.
struct Bench<'a> {
    arguments: &'a Arguments,
    ground: &'a Ground,
    jdk: &'a Jdk,
    ways: &'a [Way],
    /// The clients' classes.
    clients: &'a Path,
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
    for name in &arguments.way {
        ensure!(WAYS.iter().any(|way| way.word == name), "there is no way {name}");
    }
    let is_chosen = |way: &&Way| {
        way.sample.is_none() || arguments.way.is_empty() || arguments.way.iter().any(|word| word == way.word)
    };
    let ways: Vec<Way> = WAYS.iter().filter(is_chosen).copied().collect();
    let ground = match &arguments.program {
        Some(program) => Ground::with(&[arguments.jdk], program)?,
        None => Ground::new(&[arguments.jdk])?,
    };
    let jdk = ground.jdks.first().context("no JDK")?;
    let clients = clients(&ground, jdk)?;
    let mut packages = Packages::new(Fetch::IfMissing)?;
    if !arguments.now {
        machine::wait_until_quiet();
    }
    let load_before = machine::load().unwrap_or(f64::NAN);
    let bench = Bench { arguments, ground: &ground, jdk, ways: &ways, clients: &clients };
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    for work in &works {
        let name = work.program.name;
        let row = match work.why_not_on(arguments.jdk) {
            Some(why) => Err(anyhow::anyhow!(why)),
            None => packages.get(&work.program).and_then(|fetched| measure(&bench, work, &fetched)),
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
    let text = section(&bench, &rows, &left_out, loads);
    if arguments.only.is_empty() && arguments.way.is_empty() && arguments.java_option.is_empty() {
        print_line(&format!("wrote {}", write_section("markers", &text)?.display()))
    } else {
        print_line(&text)
    }
}

/// Compiles the clients; they go behind the boot class path, so that the program's class path is what it was.
fn clients(ground: &Ground, jdk: &Jdk) -> Result<PathBuf> {
    let jar = ground.work().join("cctrewrite-markers.jar");
    let mut command = std::process::Command::new(&ground.cctrewrite);
    process::output(command.args(["markers", "jar", "-o"]).arg(&jar))?;
    let classes = ground.work().join("clients");
    fs::create_dir(&classes)?;
    let sources = workspace::root().join("xtask/bench/markers");
    let mut javac = tool(&jdk.home, "javac");
    javac
        .args(["-nowarn", "-source", "8", "-target", "8", "-Xlint:-options", "-cp"])
        .arg(&jar)
        .arg("-d")
        .arg(&classes);
    process::output(javac.args(["Nop.java", "SimpleNop.java"].map(|file| sources.join(file))))?;
    Ok(classes)
}

/// Runs a program in all ways, in turns; each round starts with another one.
fn measure(bench: &Bench, work: &Work, fetched: &Fetched) -> Result<Row> {
    let program = work.program;
    let Arguments { jdk: version, rounds, .. } = *bench.arguments;
    let folder = bench.ground.work().join(program.name);
    let place = Place::prepare(program, version, bench.jdk, &folder, fetched)?;
    if !place.has_classes() {
        bail!("all its classes are the JDK's");
    }
    let mut jars: Vec<turns::Way> = Vec::new();
    for way in bench.ways {
        let Some(sample) = way.sample else {
            jars.push(turns::Way::plain(bench.arguments.java_option.clone()));
            continue;
        };
        let name = format!("marked-{}", way.word);
        let rules = folder.join(format!("{name}.toml"));
        fs::write(&rules, format!("[[marker]]\ntoken = \"m\"\nat = \"method\"\nsample = {sample}\n"))?;
        let rules = rules.to_str().context("a path that is no text")?;
        let mut options = place.mark(&bench.ground.cctrewrite, &["--markers", rules], &name)?;
        if let Some(client) = way.client {
            options.push(format!("-Dcctrewrite.markers.clients={client}"));
        }
        // After the runtime, which the first of these options names.
        let (clients, told) = (bench.clients.display(), told(&folder).display().to_string());
        options.iter_mut().filter(|option| option.starts_with("-Xbootclasspath/a:")).for_each(|option| {
            *option += &format!(":{clients}");
        });
        options.push(format!("-Dcctrewrite.markers.out={told}"));
        options.extend(bench.arguments.java_option.iter().cloned());
        jars.push(turns::Way { name: way.name, jars: name, options });
    }
    let mut told_of = vec![0; jars.len()];
    let turns = turns::take(&place, &bench.jdk.home, &jars, rounds, |at| {
        told_of[at] = delivered(&folder).unwrap_or_default();
        let _ = fs::remove_file(told(&folder));
        Ok(())
    })?;
    // Room for the next one.
    fs::remove_dir_all(&folder)?;
    Ok(Row { name: program.name, turns, told: told_of })
}

/// Where the runtime says how much it has told.
fn told(folder: &Path) -> PathBuf {
    folder.join("told")
}

fn delivered(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(told(folder)).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("cctrewrite: markers: "))?;
    line.split(' ').next()?.parse().ok()
}

fn section(bench: &Bench, rows: &[Row], left_out: &[String], [before, after]: [f64; 2]) -> String {
    let Bench { arguments, jdk, ways, .. } = bench;
    let mut text = format!(
        "## Markers: `cargo xtask bench markers`

On JDK {}: processor time of whole processes, compilers and collector included. Marked are all methods of the program's jars, or those whose names' hashes say so (`sample`); entries and exits go to a client that does nothing. Plain:
seconds; the others: how many times that; medians of {} runs in turns, in parentheses the least and the most. `no client`: all methods marked, and nobody subscribes. `simple`: all marked, and a client that hears entries alone
(`Client.isSimple`). Marked programs have the options of `cctrewrite flags --fast`. Load average {before:.2} before, {after:.2} after. {}, commit {} (`+`: with changes){}.

- **Machine**: {}.

",
        jdk.full_version,
        arguments.rounds,
        machine::date(),
        machine::commit(),
        if arguments.program.is_some() { ", by a program that was built before" } else { "" },
        machine::describe(),
    );
    text += "| | plain, s |";
    for way in &ways[1..] {
        let _ = write!(text, " {} |", way.name);
    }
    let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(ways.len() - 1));
    for row in rows {
        let plain = row.turns.cpu[0];
        let _ =
            write!(text, "| {} | {:.2} ({:.2} to {:.2}) |", row.name, plain.median, plain.least, plain.most);
        for of in &row.turns.cpu[1..] {
            let by = |seconds: f64| seconds / plain.median;
            let _ = write!(text, " {:.2} ({:.2} to {:.2}) |", by(of.median), by(of.least), by(of.most));
        }
        text += "\n";
    }
    let mean = |of: &dyn Fn(&Row, usize) -> f64, way: usize| {
        geometric(&rows.iter().map(|row| of(row, way) / of(row, 0)).collect::<Vec<_>>())
    };
    text += "| *geometric mean* | |";
    for way in 1..ways.len() {
        let _ = write!(text, " **{:.2}** |", mean(&|row, way| row.turns.cpu[way].median, way));
    }
    text += "\n| *of elapsed times* | |";
    for way in 1..ways.len() {
        let _ = write!(text, " {:.2} |", mean(&|row, way| row.turns.wall[way], way));
    }
    text += "\n\nMarkers told of in a run, in millions, of which each has an exit:\n\n| |";
    for way in &ways[1..] {
        let _ = write!(text, " {} |", way.name);
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(ways.len() - 1));
    for row in rows {
        let _ = write!(text, "| {} |", row.name);
        for told in &row.told[1..] {
            let _ = write!(text, " {:.2} |", *told as f64 / 1e6);
        }
        text += "\n";
    }
    text += "\n";
    if !left_out.is_empty() {
        let _ = writeln!(text, "Not measured: {}.\n", left_out.join("; "));
    }
    let remarks: Vec<&str> = rows.iter().flat_map(|row| &row.turns.remarks).map(String::as_str).collect();
    text += "Exit codes, standard output, standard error and files are those of the plain run in all ways";
    match remarks.is_empty() {
        true => text += ".\n",
        false => {
            let _ = writeln!(text, ", with these remarks:\n\n- {}", remarks.join("\n- "));
        }
    }
    text
}
