//! The sections of docs/benchmarks.md that `cargo xtask bench run` writes.

use std::fmt::Write as _;

use anyhow::{Result, ensure};

use super::super::machine;
use super::arguments::{Arguments, Part};
use super::columns::{Column, USUAL};
use super::foreign::{self, Jacoco};
use super::kernels::{self, KERNELS, MEASURED, WARM};
use super::programs::Line;
use super::tables;
use super::warm::{self, WarmRow, WarmWork, warm_works};
use super::works::{Work, works};

/// The real programs that are measured.
pub struct ChosenPrograms {
    /// As whole processes.
    pub works: Vec<Work>,
    /// Repeated in one JVM.
    pub warm: Vec<WarmWork>,
}

impl ChosenPrograms {
    /// Those that `--only` and `--part` leave.
    ///
    /// # Errors
    /// Fails if `--only` names nothing.
    pub fn of(arguments: &Arguments) -> Result<ChosenPrograms> {
        let mut works = works()?;
        let named = |name: &str| works.iter().map(|work| work.program).find(|program| program.name == name);
        let mut warm = if arguments.has(Part::Warm) { warm_works(named)? } else { Vec::new() };
        for name in &arguments.only {
            let is_known = KERNELS.iter().any(|(kernel, _)| kernel == name)
                || works.iter().any(|work| work.program.name == name);
            ensure!(
                is_known,
                "there is no kernel and no program {name}; the page docs/benchmarks.md names them"
            );
        }
        works.retain(|work| arguments.wants(work.program.name));
        warm.retain(|work| arguments.wants(work.name()));
        let has_processes =
            arguments.has(Part::Programs) || arguments.has(Part::Compilers) || arguments.has(Part::Foreign);
        if !has_processes {
            works.clear();
        }
        Ok(ChosenPrograms { works, warm })
    }
}

/// All measurements on one JDK.
pub struct Measurements {
    pub version: u32,
    pub jdk: String,
    pub kernels: Vec<kernels::Row>,
    pub programs: Vec<Line>,
    /// Real programs when they are warm.
    pub warm: Vec<WarmRow>,
    /// The library that rewrote the kernels by the papers' schemes, or why they are missing.
    pub recreated: Option<String>,
    /// Programs that were not measured, and why.
    pub left_out: Vec<String>,
}

/// Notes common to all tables.
pub fn notes(parts: &[Measurements], chosen: &ChosenPrograms, jacoco: Option<&Result<Jacoco>>) -> String {
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
            let of = chosen.works.iter().filter(move |work| work.is_repeated == is_repeated);
            let said = of.map(|work| format!("*{}*: {}", work.program.name, work.program.about));
            said.collect::<Vec<_>>().join("; ")
        };
        text += &about_programs(&said(true), &said(false), jacoco);
    }
    if parts.iter().any(|part| !part.warm.is_empty()) {
        let said: Vec<String> =
            chosen.warm.iter().map(|work| format!("*{}*: {}", work.name(), work.about())).collect();
        let _ = writeln!(
            text,
            "- **Warm programs**: one JVM repeats the work; the median of the last half of its rounds, processor time of the main thread alone. {}.",
            said.join("; ")
        );
    }
    text
}

/// The note about the papers' schemes.
const RECREATED: &str = "- **JP (2005)** (`xtask/bench/papers`): figures 1 and 5 of the paper: an object as argument, `java.util.HashMap` in each node, bytecodes added to a field at each block of its default rule, no activation counter. **Thread-local**: figure 2 of CCCP, which its authors call impractical. Both count the kernels' own classes alone, on the plain JDK.
";

/// The tables of a JDK.
pub fn on_one_jdk(measured: &Measurements, arguments: &Arguments, [before, after]: [f64; 2]) -> String {
    let Measurements { version, jdk, kernels, programs, warm, recreated, left_out } = measured;
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
    if !warm.is_empty() {
        let _ = writeln!(
            text,
            "Warm programs, {} s in one JVM, processor time of a round:\n\n{}",
            arguments.warm_for,
            warm::table(warm, &arguments.warm_columns())
        );
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
