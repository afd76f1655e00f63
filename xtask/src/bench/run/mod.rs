//! `cargo xtask bench run`: time of programs on profiled JDKs.
//!
//! [`kernels`] measures small warm programs. [`programs`] measures real ones ([`works`]) as whole
//! processes, in [`columns`], some of which are [`foreign`] profilers. [`recreated`] has the
//! papers' schemes; [`tables`] formats the results.

mod columns;
mod foreign;
mod kernels;
mod programs;
mod recreated;
mod tables;
pub mod works;

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use super::ground::Ground;
use super::machine;
use super::page::write_section;
use super::ways::{Homes, WAYS, Way};
use crate::jdks::{self, Fetch, Jdk};
use crate::print::print_line;
use crate::programs::packages::Packages;
pub use columns::FOR_SPEED;
use columns::{COMPILERS, Column, Tuning, USUAL};
use foreign::Jacoco;
pub use kernels::KERNELS;
use kernels::{MEASURED, WARM};
use programs::{Bench, Clock, Line};
use recreated::RecreatedSchemes;
pub use tables::geometric;
use works::{Work, works};

/// Options of `cargo xtask bench run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The JDKs (repeatable).
    #[arg(long = "jdk", value_name = "VERSION", default_values_t = [8, 17, 25], value_parser = jdks::supported)]
    jdks: Vec<u32>,
    /// How many JVMs run each kernel in each way, and each real program plain and exact; in the
    /// other columns it is one.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Run real programs this often in all columns, except those of foreign profilers.
    #[arg(long)]
    all_rounds: bool,
    /// Only these kernels and programs (repeatable). Prints the section and leaves
    /// docs/benchmarks.md unchanged.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Only these parts (repeatable). Prints the section and leaves docs/benchmarks.md unchanged.
    #[arg(long, value_enum)]
    part: Vec<Part>,
    /// For real programs, only these columns and their bases (repeatable), for instance `exact`,
    /// `exact-offline`, `jacoco`. Prints the section and leaves docs/benchmarks.md unchanged.
    #[arg(long, value_name = "NAME")]
    column: Vec<String>,
    /// Also measure real programs, exact, with these options for the JVM (repeatable), for instance
    /// `early=-XX:Tier4InvocationThreshold=5000`. Prints the section and leaves docs/benchmarks.md
    /// unchanged.
    #[arg(long = "try", value_name = "NAME=OPTIONS", value_parser = Tuning::parse, allow_hyphen_values = true)]
    tunings: Vec<&'static Tuning>,
    /// Measure all programs with each of HotSpot's compilers, not only a few.
    #[arg(long)]
    all_compilers: bool,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// A part of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Small programs, warm.
    Kernels,
    /// Real programs in the usual ways.
    Programs,
    /// A few real programs with one of HotSpot's compilers.
    Compilers,
    /// Other profilers, on real programs.
    Foreign,
}

impl Arguments {
    fn has(&self, part: Part) -> bool {
        self.part.is_empty() || self.part.contains(&part)
    }

    fn is_whole(&self) -> bool {
        self.part.is_empty() && self.only.is_empty() && self.column.is_empty() && self.tunings.is_empty()
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    /// The columns of a program on a JDK of `version`.
    fn columns(&self, work: &Work, version: u32) -> Vec<Column> {
        let mut columns = vec![Column::Of(Way::Plain)];
        if self.has(Part::Programs) {
            columns.extend(&USUAL[1..]);
        }
        if self.has(Part::Compilers) && (work.is_sample || self.all_compilers) {
            columns.extend(COMPILERS);
        }
        if self.has(Part::Foreign) {
            columns.extend(foreign::columns(version));
        }
        let tried = self.tunings.iter().map(|&tuning| Column::Tuned(tuning));
        self.chosen(&columns).into_iter().chain(tried).collect()
    }

    /// Those of `columns` that `--column` names, and their bases.
    fn chosen(&self, columns: &[Column]) -> Vec<Column> {
        let is_named = |column: &Column| self.column.iter().any(|name| *name == column.word());
        let is_base = |base: &Column| columns.iter().any(|column| is_named(column) && column.base() == *base);
        let plain = Column::Of(Way::Plain);
        let is_chosen = |column: &&Column| {
            self.column.is_empty() || **column == plain || is_named(column) || is_base(column)
        };
        columns.iter().filter(is_chosen).copied().collect()
    }
}

/// All measurements on one JDK.
struct Measured {
    version: u32,
    jdk: String,
    kernels: Vec<kernels::Row>,
    programs: Vec<Line>,
    /// The library that rewrote the kernels by the papers' schemes, or why they are missing.
    recreated: Option<String>,
    /// Programs that were not measured, and why.
    left_out: Vec<String>,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// Fails if a JDK is missing, a kernel fails, or `--only` names nothing.
pub fn run(arguments: &Arguments) -> Result<()> {
    for name in &arguments.column {
        let all = USUAL.into_iter().chain(COMPILERS).chain(foreign::ALL).map(Column::word);
        let all: Vec<String> = all.collect();
        ensure!(all.contains(name), "unknown column {name}; known are {}", all.join(", "));
    }
    let mut works = works()?;
    for name in &arguments.only {
        let is_known = KERNELS.iter().any(|(kernel, _)| kernel == name)
            || works.iter().any(|work| work.program.name == name);
        ensure!(is_known, "there is no kernel and no program {name}; the page docs/benchmarks.md names them");
    }
    works.retain(|work| arguments.wants(work.program.name));
    let clock = Clock::start();
    let ground = Ground::new(&arguments.jdks)?;
    let mut packages = Packages::new(Fetch::IfMissing)?;
    let jacoco = (arguments.has(Part::Foreign) && !works.is_empty())
        .then(|| Jacoco::fetch(&mut packages, ground.work()));
    if !arguments.now {
        machine::wait_until_quiet();
    }
    let mut parts = Vec::new();
    for (&version, jdk) in arguments.jdks.iter().zip(&ground.jdks) {
        clock.say(&format!("JDK {}: {}", jdk.full_version, jdk.home.display()));
        let before = machine::load().unwrap_or(f64::NAN);
        let jacoco = jacoco.as_ref().map(Result::as_ref).and_then(Result::ok);
        let measured = on(arguments, &ground, (version, jdk), &works, &mut packages, jacoco, &clock)?;
        let loads = [before, machine::load().unwrap_or(f64::NAN)];
        let tables = on_one_jdk(&measured, arguments, loads);
        give(arguments, &format!("run-{version}"), &tables, &clock)?;
        parts.push(measured);
    }
    give(arguments, "run", &notes(&parts, &works, jacoco.as_ref()), &clock)
}

/// Writes a section of the page, as soon as a JDK's is complete; prints it if only a part of the
/// benchmark ran.
fn give(arguments: &Arguments, name: &str, section: &str, clock: &Clock) -> Result<()> {
    if arguments.is_whole() {
        let file = write_section(name, section)?;
        clock.say(&format!("written: {name} in {}", file.display()));
        Ok(())
    } else {
        print_line(&section)
    }
}

/// Measures on one JDK.
fn on(
    arguments: &Arguments,
    ground: &Ground,
    (version, jdk): (u32, &Jdk),
    works: &[Work],
    packages: &mut Packages,
    jacoco: Option<&Jacoco>,
    clock: &Clock,
) -> Result<Measured> {
    let kernels: Vec<&str> = KERNELS.iter().map(|(name, _)| *name).collect();
    let kernels: Vec<&str> =
        kernels.into_iter().filter(|name| arguments.has(Part::Kernels) && arguments.wants(name)).collect();
    let has_programs =
        arguments.has(Part::Programs) || arguments.has(Part::Compilers) || arguments.has(Part::Foreign);
    let works = if has_programs { works } else { &[] };
    // Images take time and room: only the necessary ones.
    let mut ways: Vec<Way> = WAYS.to_vec();
    if kernels.is_empty() {
        let columns: Vec<Column> = works.iter().flat_map(|work| arguments.columns(work, version)).collect();
        ways.retain(|way| columns.iter().any(|column| column.way() == *way));
    }
    let homes = Homes::of(jdk, &ground.cctrewrite, ground.work(), &ways)?;
    clock.say("images are there");
    let mut measured = Measured {
        version,
        jdk: jdk.full_version.clone(),
        kernels: Vec::new(),
        programs: Vec::new(),
        recreated: None,
        left_out: Vec::new(),
    };
    if !kernels.is_empty() {
        let classes = ground.kernels()?;
        let folder = ground.work().join(format!("recreated-{version}"));
        let recreated = RecreatedSchemes::prepare(jdk, &classes, packages, &folder);
        measured.recreated = Some(match &recreated {
            Ok(recreated) => recreated.library.clone(),
            Err(why) => format!("missing: {why:#}"),
        });
        let recreated = recreated.as_ref().ok();
        for name in kernels {
            let row = kernels::measure(&homes, &classes, recreated, name, arguments.rounds, clock)?;
            measured.kernels.push(row);
        }
    }
    let bench = Bench {
        version,
        jdk,
        homes: &homes,
        cctrewrite: &ground.cctrewrite,
        folder: ground.work().join(format!("programs-{version}")),
        jacoco: jacoco.map(|jacoco| &jacoco.jar),
        rounds: arguments.rounds,
        has_all_rounds: arguments.all_rounds,
        clock,
    };
    for work in works {
        let name = work.program.name;
        let mut columns = arguments.columns(work, version);
        columns.retain(|column| *column != Column::Jacoco || jacoco.is_some());
        let line = match work.why_not_on(version) {
            Some(why) => Err(why.to_owned()),
            None => packages
                .get(&work.program)
                .and_then(|fetched| programs::measure(&bench, work, &fetched, &columns))
                .map_err(|error| format!("{error:#}")),
        };
        match line {
            Ok(line) => measured.programs.push(line),
            Err(why) => {
                clock.say(&format!("{name} is skipped: {why}"));
                measured.left_out.push(format!("{name} ({why})"));
            }
        }
    }
    Ok(measured)
}

/// Notes common to all tables.
fn notes(parts: &[Measured], works: &[Work], jacoco: Option<&Result<Jacoco>>) -> String {
    let mut text = String::from("## Running programs: `cargo xtask bench run`\n\n");
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "Medians and, in parentheses, least and most of several JVMs, all ways in turns; without parentheses: one JVM. Columns after the plain one are multiples of its median.

"
    );
    if parts.iter().any(|part| !part.kernels.is_empty()) {
        let kernels: Vec<String> = KERNELS.iter().map(|(name, does)| format!("*{name}*: {does}")).collect();
        let _ = writeln!(
            text,
            "- **Kernels** (`xtask/bench/Kernels.java`): in each JVM {WARM} runs to warm up, then the median of {MEASURED} runs, processor time of the running thread alone. {}.",
            kernels.join("; ")
        );
    }
    if parts.iter().any(|part| part.kernels.iter().any(|row| !row.recreated.is_empty())) {
        text += RECREATED;
    }
    text += "- **plain, --fast**: the plain program with the options for speed of images. **recording off**: `-Dcctrewrite.record=off`. **calls**: `--metrics calls`. **exact**: the default, calls and bytecodes. **precise**, **papers' default**: the other rules of `--blocks`.
  **activation**, **call sites**, **native**: exact with `--activation-counters`, `--call-sites`, `--intrinsics native`.\n";
    if parts.iter().any(|part| !part.programs.is_empty()) {
        let said = |is_repeated: bool| {
            let of = works.iter().filter(move |work| work.is_repeated == is_repeated);
            let said = of.map(|work| format!("*{}*: {}", work.program.name, work.program.about));
            said.collect::<Vec<_>>().join("; ")
        };
        text += &about_programs(&said(true), &said(false), jacoco);
    }
    text
}

/// The note about the papers' schemes.
const RECREATED: &str = "- **JP (2005)** (`xtask/bench/papers`): figures 1 and 5 of the paper: an object as argument, `java.util.HashMap` in each node, bytecodes added to a field at each block of its default rule, no activation counter. **Thread-local**: figure 2 of CCCP, which its authors call impractical. Both count the kernels' own classes alone, on the plain JDK.
";

/// The tables of a JDK.
fn on_one_jdk(measured: &Measured, arguments: &Arguments, [before, after]: [f64; 2]) -> String {
    let Measured { version, jdk, kernels, programs, recreated, left_out } = measured;
    let (machine, commit, date) = (machine::describe(), machine::commit(), machine::date());
    let rounds = arguments.rounds;
    let mut text = format!(
        "### Programs on JDK {jdk}\n\n{rounds} JVMs. Load average {before:.2} before, {after:.2} after. {date}, commit {commit} (`+`: with changes). {machine}.\n\n"
    );
    if !kernels.is_empty() {
        let _ = writeln!(text, "Kernels, processor time:\n\n{}", tables::kernels(kernels));
        let library = recreated.as_deref().unwrap_or("not asked for");
        let _ = match tables::recreated(kernels) {
            Some(table) => writeln!(
                text,
                "The papers' schemes, rebuilt with {library} for the kernels' own classes, while \
                 *exact* counts the class library too:\n\n{table}"
            ),
            None => writeln!(text, "The papers' schemes were not measured: {library}.\n"),
        };
    }
    let mut columns: Vec<Column> =
        if arguments.has(Part::Programs) { USUAL.to_vec() } else { vec![USUAL[0]] };
    if arguments.has(Part::Foreign) {
        columns.extend(foreign::columns(*version));
    }
    let tried = arguments.tunings.iter().map(|&tuning| Column::Tuned(tuning));
    let columns: Vec<Column> = arguments.chosen(&columns).into_iter().chain(tried).collect();
    if !programs.is_empty() {
        let _ = writeln!(
            text,
            "Real programs, processor time of the whole process:\n\n{}",
            tables::processor_times(programs, &columns)
        );
        let _ = writeln!(
            text,
            "The same, elapsed time, and what they execute (exact):\n\n{}",
            tables::elapsed_times(programs, &columns)
        );
    }
    if let Some(table) = tables::compilers(programs) {
        let _ = writeln!(text, "With one of HotSpot's compilers alone, processor time:\n\n{table}");
    }
    if !left_out.is_empty() {
        let _ = writeln!(text, "Not measured on this JDK: {}.\n", left_out.join("; "));
    }
    let has_foreign = arguments.has(Part::Foreign) && !programs.is_empty();
    if let Some(why) = foreign::why_not(*version).filter(|_| has_foreign) {
        let _ = writeln!(text, "Foreign profilers that are missing: {why}.\n");
    }
    let remarks: Vec<String> = programs
        .iter()
        .flat_map(|line| line.remarks.iter().map(|remark| format!("- {}: {remark}", line.name)))
        .collect();
    if !programs.is_empty() {
        let same =
            "Exit codes, standard output, standard error and files are those of the plain run in all ways";
        let _ = if remarks.is_empty() {
            writeln!(text, "{same}.\n")
        } else {
            writeln!(text, "{same}, with these remarks:\n\n{}\n", remarks.join("\n"))
        };
    }
    text
}

/// The description of real programs and their columns.
fn about_programs(repeated: &str, once: &str, jacoco: Option<&Result<Jacoco>>) -> String {
    let mut text = String::from(
        "- **Real programs** are whole processes: all threads, those of the compilers and the collector included, start, rewriting of the program's classes at load time, and writing the profile. **exact, offline**: the program's jars are rewritten
  beforehand, as the class library always is.\n",
    );
    for (head, programs) in [
        ("Most of the time the same again", repeated),
        ("Once through much code, so that starting, loading and compiling are much of the time", once),
    ] {
        if !programs.is_empty() {
            let _ = writeln!(text, "- **{head}**: {programs}.");
        }
    }
    let _ = write!(
        text,
        "- **C1**: `-XX:TieredStopAtLevel=1`, **C2**: `-XX:-TieredCompilation`, each over the plain JDK with the same option.
- **hprof**: `-agentlib:hprof=cpu=times` of JDK 8, with which the papers compare; ended after {} times the plain processor time (a lower bound).
  Programs with a lambda end by `NoClassDefFoundError: java/lang/invoke/LambdaForm$MH`.
",
        foreign::LIMIT
    );
    match jacoco {
        Some(Ok(jacoco)) => {
            let _ = writeln!(
                text,
                "- **JaCoCo**: its agent with default options ({}): marks executed branches, not how often, without the class library.",
                jacoco.version
            );
        }
        Some(Err(why)) => {
            let _ = writeln!(text, "- **JaCoCo** is missing: {why:#}.");
        }
        None => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(options: &[&str]) -> Arguments {
        #[derive(clap::Parser)]
        struct Command {
            #[command(flatten)]
            arguments: Arguments,
        }
        <Command as clap::Parser>::parse_from([&["run"], options].concat()).arguments
    }

    #[test]
    fn what_is_chosen_is_measured_with_what_it_is_compared_with() {
        let work = works().unwrap().into_iter().find(|work| work.is_sample).unwrap();
        let words = |options: &[&str], version| -> Vec<String> {
            arguments(options).columns(&work, version).into_iter().map(Column::word).collect()
        };
        assert_eq!(words(&["--column", "exact"], 17), ["plain", "exact"]);
        assert_eq!(words(&["--column", "exact-c2"], 17), ["plain", "plain-c2", "exact-c2"]);
        assert_eq!(words(&["--part", "foreign"], 17), ["plain", "jacoco"]);
        assert_eq!(words(&["--part", "foreign"], 8), ["plain", "hprof", "jacoco"]);
        assert_eq!(words(&[], 25).len(), USUAL.len() + COMPILERS.len());
        assert!(arguments(&["--rounds", "1"]).is_whole());
        assert!(!arguments(&["--column", "exact"]).is_whole());
    }
}
