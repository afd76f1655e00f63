//! `cargo xtask bench markers`: cost of markers by the number of a program's marked methods (MTF
//! 2010, table 3.5). A client does nothing; the base is the plain program.

mod ways;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use xtask_programs::packages::ProgramFiles;
use xtask_programs::place::Place;
use xtask_tools::jdks::{Jdk, tool};
use xtask_tools::print::print_line;
use xtask_tools::{process, workspace};

use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::run::geometric;
use super::run::works::Work;
use super::turns::{self, Choice, Measurements, Turns};
use ways::{WAYS, Way};

/// Options of `cargo xtask bench markers`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    choice: Choice,
    /// Only these ways, besides the plain ones: `0`, `10` ... `100`, `off`, `simple` (repeatable).
    /// Prints the section.
    #[arg(long, value_name = "NAME")]
    way: Vec<String>,
    /// Options for the JVM (repeatable). Prints the section.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    java_option: Vec<String>,
}

/// Index of the base: the plain program with the others' options.
const BASE: usize = 1;

/// A program in all ways.
struct Row {
    name: &'static str,
    turns: Turns,
    /// Number of delivered markers, entries alone.
    told: Vec<u64>,
}

/// The common part of all measurements.
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
/// Fails if a JDK or a program is missing, or a run fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let choice = &arguments.choice;
    for name in &arguments.way {
        ensure!(WAYS.iter().any(|way| way.word == name), "unknown way {name}");
    }
    let is_chosen =
        |way: &&Way| arguments.way.is_empty() || arguments.way.iter().any(|word| word == way.word);
    let ways: Vec<Way> = WAYS.iter().filter(is_chosen).copied().collect();
    let ground = choice.ground()?;
    let jdk = ground.jdks.first().context("no JDK")?;
    let clients = clients(&ground, jdk)?;
    let bench = Bench { arguments, ground: &ground, jdk, ways: &ways, clients: &clients };
    let measured = choice.each(&[], |work, fetched| measure(&bench, work, fetched))?;
    let text = section(&bench, &measured);
    if choice.only.is_empty() && arguments.way.is_empty() && arguments.java_option.is_empty() {
        print_line(&format!("wrote {}", write_section("markers", &text)?.display()))
    } else {
        print_line(&text)
    }
}

/// Compiles the clients. They are appended to the boot class path, so that the program's class path
/// stays unchanged.
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
fn measure(bench: &Bench, work: &Work, fetched: &ProgramFiles) -> Result<Row> {
    let program = work.program;
    let Choice { jdk: version, rounds, .. } = bench.arguments.choice;
    let folder = bench.ground.work().join(program.name);
    let place = Place::prepare(program, version, bench.jdk, &folder, fetched)?;
    if !place.has_classes() {
        bail!("all its classes are the JDK's");
    }
    let home = &bench.jdk.home;
    let mut jars = vec![turns::Way::plain(home, bench.arguments.java_option.clone())];
    for Way { word, name: head, sample, client } in bench.ways {
        let name = format!("marked-{word}");
        let rules = folder.join(format!("{name}.toml"));
        fs::write(&rules, format!("[[marker]]\ntoken = \"m\"\nat = \"method\"\nsample = {sample}\n"))?;
        let rules = rules.to_str().context("a path that is no text")?;
        let mut options = place.mark(&bench.ground.cctrewrite, &["--markers", rules], &name)?;
        options.extend(bench.arguments.java_option.iter().cloned());
        if jars.len() == BASE {
            jars.push(turns::Way::plain_fast(home, &options));
        }
        if let Some(client) = client {
            options.push(format!("-Dcctrewrite.markers.clients={client}"));
        }
        // After the runtime, which the first of these options names.
        let (clients, told) = (bench.clients.display(), told(&folder).display().to_string());
        options.iter_mut().filter(|option| option.starts_with("-Xbootclasspath/a:")).for_each(|option| {
            *option += &format!(":{clients}");
        });
        options.push(format!("-Dcctrewrite.markers.out={told}"));
        jars.push(turns::Way { name: head, home, jars: name, options });
    }
    let mut told_of = vec![0; jars.len()];
    let turns = turns::take(&place, &jars, rounds, |at| {
        told_of[at] = delivered(&folder).unwrap_or_default();
        let _ = fs::remove_file(told(&folder));
        Ok(())
    })?;
    // Makes room for the next one.
    fs::remove_dir_all(&folder)?;
    Ok(Row { name: program.name, turns, told: told_of })
}

/// The file in which the runtime reports the number of delivered markers.
fn told(folder: &Path) -> PathBuf {
    folder.join("told")
}

fn delivered(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(told(folder)).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("cctrewrite: markers: "))?;
    line.split(' ').next()?.parse().ok()
}

fn section(bench: &Bench, measured: &Measurements<Row>) -> String {
    let Bench { arguments, jdk, ways, .. } = bench;
    let Measurements { rows, left_out, loads: [before, after] } = measured;
    let mut text = format!(
        "## Markers: `cargo xtask bench markers`

On JDK {}: processor time of whole processes, compilers and collector included. Marked are all methods of the program's jars, or a part of them (`sample`); a client that does nothing gets entries and exits. Plain:
seconds, and with the options of `cctrewrite flags --fast`, which marked programs have. The other columns are multiples of the latter; medians of {} runs in turns, in parentheses the least and the most. `no client`: all methods marked, without a
client. `simple`: all marked, and a client of entries alone (`Client.isSimple`). Load average {before:.2} before, {after:.2} after. {}.

- **Machine**: {}.

",
        jdk.full_version,
        arguments.choice.rounds,
        arguments.choice.origin(),
        machine::describe(),
    );
    text += "| | plain, s | the same, --fast |";
    for way in *ways {
        let _ = write!(text, " {} |", way.name);
    }
    let _ = writeln!(text, "\n|---|---|---|{}", "---|".repeat(ways.len()));
    for Row { name, turns, .. } in rows {
        let _ = write!(text, "| {name} |");
        for of in &turns.cpu[..=BASE] {
            let _ = write!(text, " {:.2} ({:.2} to {:.2}) |", of.median, of.least, of.most);
        }
        for of in &turns.cpu[BASE + 1..] {
            let by = |seconds: f64| seconds / turns.cpu[BASE].median;
            let _ = write!(text, " {:.2} ({:.2} to {:.2}) |", by(of.median), by(of.least), by(of.most));
        }
        text += "\n";
    }
    let mean = |of: &dyn Fn(&Row, usize) -> f64, way: usize| {
        geometric(&rows.iter().map(|row| of(row, way) / of(row, BASE)).collect::<Vec<_>>())
    };
    text += "| *geometric mean* | | |";
    for way in 0..ways.len() {
        let _ = write!(text, " **{:.2}** |", mean(&|row, way| row.turns.cpu[way].median, BASE + 1 + way));
    }
    text += "\n| *of elapsed times* | | |";
    for way in 0..ways.len() {
        let _ = write!(text, " {:.2} |", mean(&|row, way| row.turns.wall[way].median, BASE + 1 + way));
    }
    text += "\n\nReported markers in a run, in millions, each with an exit:\n\n| |";
    for way in *ways {
        let _ = write!(text, " {} |", way.name);
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(ways.len()));
    for row in rows {
        let _ = write!(text, "| {} |", row.name);
        for told in &row.told[BASE + 1..] {
            let _ = write!(text, " {:.2} |", *told as f64 / 1e6);
        }
        text += "\n";
    }
    text += &turns::remarks(left_out, rows.iter().map(|row| &row.turns), |_| false);
    text
}
