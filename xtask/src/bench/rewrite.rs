//! `cargo xtask bench rewrite`: how long it takes to instrument `rt.jar`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use super::asm::{self, Asm, Mode};
use super::machine;
use super::measure::{self, Spread};
use super::page::{self, Page, Row};
use crate::jdks::{self, Fetch, Jdk};
use crate::workspace;

/// Options of `cargo xtask bench rewrite`.
#[derive(clap::Args)]
pub struct Arguments {
    /// How often everything is measured.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Do not wait until the machine is quiet.
    #[arg(long)]
    now: bool,
}

/// One pass in a fresh JVM is how a build would call ASM; the last of this many shows ASM as compiled code.
const WARM_PASSES: u32 = 5;

/// The things that are measured, in the order of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Subject {
    PlainCopy,
    OneThread,
    AllThreads,
    AsmCopy,
    AsmTransform,
    AsmTransformWarm,
}

const SUBJECTS: [Subject; 6] = [
    Subject::PlainCopy,
    Subject::OneThread,
    Subject::AllThreads,
    Subject::AsmCopy,
    Subject::AsmTransform,
    Subject::AsmTransformWarm,
];

impl Subject {
    fn name(self) -> String {
        match self {
            Subject::PlainCopy => "plain copy of the file".to_owned(),
            Subject::OneThread => "`cctrewrite instrument --threads 1`".to_owned(),
            Subject::AllThreads => "`cctrewrite instrument`".to_owned(),
            Subject::AsmCopy => "ASM, copy".to_owned(),
            Subject::AsmTransform => "ASM, transform".to_owned(),
            Subject::AsmTransformWarm => format!("ASM, transform, pass {WARM_PASSES} in one JVM"),
        }
    }
}

/// One measurement of one subject.
struct Sample {
    seconds: f64,
    cpu_seconds: Option<f64>,
    peak_kib: Option<u64>,
    output_bytes: u64,
}

/// Measures, and writes the section of docs/benchmarks.md.
///
/// # Errors
/// If JDK 8 or ASM is not to be had, or a run fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let answers = jdks::get(&[8], Fetch::IfMissing)?;
    let jdk = answers.into_iter().next().context("no answer about JDK 8")?.jdk?;
    let built = workspace::build_release(&jdk)?;
    let folder = built.target.join("bench");
    fs::create_dir_all(&folder)?;
    let work = tempfile::tempdir_in(&folder)?;
    let asm = Asm::prepare(&jdk, work.path())?;
    let bench = Bench {
        input: jdk.home.join("jre/lib/rt.jar"),
        output: work.path().join("out.jar"),
        program: built.program,
        asm,
        jdk,
    };

    if !arguments.now {
        machine::wait_until_quiet();
    }
    let load_before = machine::load().unwrap_or(f64::NAN);
    // A first round fills the file cache and is not counted.
    eprintln!("a round to warm up");
    for subject in SUBJECTS {
        bench.measure(subject)?;
    }
    let mut samples: [Vec<Sample>; SUBJECTS.len()] = Default::default();
    for round in 0..arguments.rounds as usize {
        eprintln!("round {} of {}", round + 1, arguments.rounds);
        // Interleaved, so that a slow minute of the machine hits all; each round starts with another one.
        for turn in 0..SUBJECTS.len() {
            let index = (round + turn) % SUBJECTS.len();
            let sample = bench.measure(SUBJECTS[index])?;
            eprintln!("  {:<40} {:>7.3} s", SUBJECTS[index].name(), sample.seconds);
            samples[index].push(sample);
        }
    }
    let rows =
        SUBJECTS.iter().zip(&samples).map(|(subject, samples)| row(*subject, samples)).collect::<Option<_>>();
    let page = Page {
        rows: rows.context("no round")?,
        rounds: arguments.rounds,
        load_before,
        load_after: machine::load().unwrap_or(f64::NAN),
        jdk: bench.jdk.full_version.clone(),
        asm: bench.asm.version.clone(),
        input_bytes: fs::metadata(&bench.input)?.len(),
    };
    let file = page::write(&page)?;
    eprintln!("written: {}", file.display());
    Ok(())
}

struct Bench {
    input: PathBuf,
    output: PathBuf,
    program: PathBuf,
    asm: Asm,
    jdk: Jdk,
}

impl Bench {
    fn measure(&self, subject: Subject) -> Result<Sample> {
        let sample = match subject {
            Subject::PlainCopy => self.plain_copy(),
            Subject::OneThread => self.process(self.instrument().args(["--threads", "1"])),
            Subject::AllThreads => self.process(&mut self.instrument()),
            Subject::AsmCopy => self.process(&mut self.asm(Mode::Copy, 1)),
            Subject::AsmTransform => self.process(&mut self.asm(Mode::Transform, 1)),
            Subject::AsmTransformWarm => self.last_pass(),
        };
        sample.with_context(|| format!("measuring: {}", subject.name()))
    }

    fn instrument(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("instrument").arg(&self.input).arg("-o").arg(&self.output).arg("--quiet");
        command
    }

    fn asm(&self, mode: Mode, passes: u32) -> Command {
        self.asm.command(&self.jdk, mode, &self.input, &self.output, passes)
    }

    /// Through memory: read, then written.
    fn plain_copy(&self) -> Result<Sample> {
        let started = Instant::now();
        fs::write(&self.output, fs::read(&self.input)?)?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(Sample { seconds, cpu_seconds: None, peak_kib: None, output_bytes: self.remove_output()? })
    }

    /// A whole process.
    fn process(&self, command: &mut Command) -> Result<Sample> {
        let run = measure::run(command)?;
        let output_bytes = self.remove_output()?;
        let (cpu_seconds, peak_kib) = (Some(run.cpu_seconds), Some(run.peak_kib));
        Ok(Sample { seconds: run.seconds, cpu_seconds, peak_kib, output_bytes })
    }

    /// The last of several passes in one JVM, as the harness measures it.
    fn last_pass(&self) -> Result<Sample> {
        let run = measure::run(&mut self.asm(Mode::Transform, WARM_PASSES))?;
        let passes = asm::passes(&run.output)?;
        let last = passes.last().context("the ASM harness said nothing")?;
        ensure!(last.class_bytes > 0, "the ASM harness rewrote no class");
        // The processor time is that of all passes, and says nothing about the last.
        let peak_kib = Some(run.peak_kib);
        let output_bytes = self.remove_output()?;
        Ok(Sample { seconds: last.seconds, cpu_seconds: None, peak_kib, output_bytes })
    }

    /// Removes the output, so that every run makes a new file; returns its size.
    fn remove_output(&self) -> Result<u64> {
        let size = size(&self.output)?;
        fs::remove_file(&self.output)?;
        Ok(size)
    }
}

fn size(file: &Path) -> Result<u64> {
    Ok(fs::metadata(file).with_context(|| format!("{}", file.display()))?.len())
}

fn row(subject: Subject, samples: &[Sample]) -> Option<Row> {
    let seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    let cpu_seconds: Vec<f64> = samples.iter().filter_map(|sample| sample.cpu_seconds).collect();
    Some(Row {
        name: subject.name(),
        is_reference: subject == Subject::AllThreads,
        seconds: Spread::of(&seconds)?,
        cpu_seconds: Spread::of(&cpu_seconds),
        peak_kib: samples.iter().filter_map(|sample| sample.peak_kib).max(),
        output_bytes: samples.first()?.output_bytes,
    })
}
