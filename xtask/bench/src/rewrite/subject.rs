//! Subjects of the benchmark, and their measurement.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use walkdir::WalkDir;
use xtask_tools::jdks::Jdk;

use super::copier::Copier;
use super::inputs::{Input, Name, bytes};
use super::peers::{self, Peer, Peers};
use crate::measure::{self, Run};

/// Number of passes in one JVM of [`Subject::LaterPasses`], and the first counted one: earlier ones
/// are slower, until the JVM has compiled the hot code.
const PASSES: u32 = 5;
const FIRST_LATER: u32 = 3;

/// A subject of the benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A copy of the file's bytes.
    PlainCopy,
    /// Info-ZIP's `zip`, which copies entries without unpacking them.
    Zip,
    /// Reading and writing of every class by cctrewrite's crates, unchanged.
    OwnCopy,
    /// `cctrewrite instrument` on one thread.
    OneThread,
    /// `cctrewrite instrument` on all threads of the machine.
    AllThreads,
    /// A foreign library, one pass in a fresh JVM, as a build would call it.
    Peer(Peer),
    /// A foreign library, after the JVM has compiled it.
    LaterPasses(Peer),
}

impl Subject {
    /// All subjects on an input, in the order of the table. `rt.jar` has the most.
    pub fn on(name: Name, all_peers: bool) -> Vec<Subject> {
        let mut subjects = vec![Subject::PlainCopy];
        if name == Name::RtJar {
            subjects.push(Subject::Zip);
        }
        subjects.extend([Subject::OwnCopy, Subject::OneThread, Subject::AllThreads]);
        let some = [Peer::AsmCopy, Peer::AsmTransform];
        let is_full = name == Name::RtJar || all_peers;
        subjects.extend(if is_full { &Peer::ALL[..] } else { &some }.iter().copied().map(Subject::Peer));
        let later: &[Peer] = match name {
            // A single pass takes so long there that the JVM has compiled everything early on.
            Name::Pyspark => &[],
            _ if is_full => &Peer::ALL,
            _ => &[Peer::AsmTransform],
        };
        subjects.extend(later.iter().copied().map(Subject::LaterPasses));
        subjects
    }

    /// The name in tables.
    pub fn name(self) -> String {
        match self {
            Subject::PlainCopy => "plain copy of the bytes".to_owned(),
            Subject::Zip => "`zip`, copy of the entries".to_owned(),
            Subject::OwnCopy => "our read and write, no change".to_owned(),
            Subject::OneThread => "`cctrewrite instrument --threads 1`".to_owned(),
            Subject::AllThreads => "`cctrewrite instrument`".to_owned(),
            Subject::Peer(peer) => peer.name().to_owned(),
            Subject::LaterPasses(peer) => {
                format!("{}, passes {FIRST_LATER} to {PASSES} in one JVM", peer.name())
            }
        }
    }

    /// Whether this is cctrewrite's own, which must not fail; failures of others are reported.
    pub fn is_ours(self) -> bool {
        !matches!(self, Subject::Zip | Subject::Peer(_) | Subject::LaterPasses(_))
    }

    /// Whether this is measured in this round (from 0): a JVM with several passes gives several
    /// times at once.
    pub fn is_in_round(self, round: u32) -> bool {
        !matches!(self, Subject::LaterPasses(_)) || round.is_multiple_of(3)
    }
}

/// One measurement of one subject.
pub struct Sample {
    /// Wall-clock times.
    pub seconds: Vec<f64>,
    /// Processor time; `None` for subjects without a process of their own, and for passes in one
    /// JVM, which share it.
    pub cpu_seconds: Option<f64>,
    /// Peak memory in KiB; `None` for subjects without a process of their own.
    pub peak_kib: Option<u64>,
    /// Ratio of bytes written to bytes read.
    pub growth: f64,
    /// Number of classes that it could not rewrite, and left unchanged.
    pub left: u64,
}

/// The measured programs, and their output folder.
pub struct Bench {
    /// The command.
    pub cctrewrite: PathBuf,
    /// The project's own copier.
    pub copier: Copier,
    /// The foreign libraries.
    pub peers: Peers,
    /// A folder that each measurement creates and removes.
    pub output: PathBuf,
}

impl Bench {
    /// Whether everything for a subject is available.
    pub fn has(&self, subject: Subject) -> bool {
        match subject {
            Subject::Peer(peer) | Subject::LaterPasses(peer) => self.peers.has(peer),
            _ => true,
        }
    }

    /// Measures once.
    ///
    /// # Errors
    /// Fails if the run fails.
    pub fn measure(&self, subject: Subject, input: &Input, jdk: &Jdk) -> Result<Sample> {
        fs::create_dir(&self.output).with_context(|| format!("make {}", self.output.display()))?;
        let sample = self.sample(subject, input, jdk);
        // Every run creates new files.
        fs::remove_dir_all(&self.output)?;
        sample.with_context(|| format!("measuring: {}, {}", input.name.title(), subject.name()))
    }

    fn sample(&self, subject: Subject, input: &Input, jdk: &Jdk) -> Result<Sample> {
        let (files, output) = (&input.files, &self.output);
        let for_peers = input.for_peers();
        match subject {
            Subject::PlainCopy => self.plain_copy(files),
            Subject::Zip => self.process(&mut zip(files, output)?, files),
            Subject::OwnCopy => self.process(&mut self.copier.copy(files, output), files),
            Subject::OneThread => self.process(self.instrument(input)?.args(["--threads", "1"]), files),
            Subject::AllThreads => self.process(&mut self.instrument(input)?, files),
            Subject::Peer(peer) => {
                let mut command = self.peers.command(peer, jdk, &for_peers, output, 1)?;
                let run = measure::run(&mut command)?;
                let pass = *peers::passes(&run.output)?.first().context("the harness said nothing")?;
                Ok(Sample { left: pass.left, ..self.sample_of(&run, &for_peers)? })
            }
            Subject::LaterPasses(peer) => {
                let run = measure::run(&mut self.peers.command(peer, jdk, &for_peers, output, PASSES)?)?;
                let passes = peers::passes(&run.output)?.into_iter().skip(FIRST_LATER as usize - 1);
                let seconds = passes.map(|pass| pass.seconds).collect();
                Ok(Sample { seconds, cpu_seconds: None, ..self.sample_of(&run, &for_peers)? })
            }
        }
    }

    fn instrument(&self, input: &Input) -> Result<Command> {
        let mut command = Command::new(&self.cctrewrite);
        command.arg("instrument").args(&input.files).arg("--quiet").arg("-o");
        match input.files.as_slice() {
            [file] => command.arg(self.output.join(name(file)?)),
            _ => command.arg(self.output.join("all")),
        };
        if let Some(library) = &input.library {
            command.arg("--library").arg(library);
        }
        Ok(command)
    }

    /// Copies files through memory.
    fn plain_copy(&self, files: &[PathBuf]) -> Result<Sample> {
        let started = Instant::now();
        for file in files {
            fs::write(self.output.join(name(file)?), fs::read(file)?)?;
        }
        let seconds = vec![started.elapsed().as_secs_f64()];
        Ok(Sample { seconds, cpu_seconds: None, peak_kib: None, growth: self.growth(files)?, left: 0 })
    }

    /// Measures a whole process.
    fn process(&self, command: &mut Command, read: &[PathBuf]) -> Result<Sample> {
        self.sample_of(&measure::run(command)?, read)
    }

    fn sample_of(&self, run: &Run, read: &[PathBuf]) -> Result<Sample> {
        Ok(Sample {
            seconds: vec![run.seconds],
            cpu_seconds: Some(run.cpu_seconds),
            peak_kib: Some(run.peak_kib),
            growth: self.growth(read)?,
            left: 0,
        })
    }

    fn growth(&self, read: &[PathBuf]) -> Result<f64> {
        let mut written = 0;
        for entry in WalkDir::new(&self.output) {
            let entry = entry?;
            written += if entry.file_type().is_file() { entry.metadata()?.len() } else { 0 };
        }
        if written == 0 {
            bail!("nothing was written");
        }
        Ok(written as f64 / bytes(read)?.max(1) as f64)
    }
}

fn name(file: &Path) -> Result<&OsStr> {
    file.file_name().with_context(|| format!("{} has no name", file.display()))
}

/// The command for a single jar.
fn zip(files: &[PathBuf], output: &Path) -> Result<Command> {
    let [file] = files else { bail!("zip copies one archive at a time") };
    let mut command = Command::new("zip");
    command.args(["--quiet", "--copy-entries"]).arg(file).arg("--out").arg(output.join(name(file)?)).arg("*");
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_jar_has_all_subjects_and_the_others_a_part_of_them() {
        let all = Subject::on(Name::RtJar, false);
        for name in [Name::Jdk8, Name::Modules17, Name::Modules25, Name::Pyspark] {
            for subject in Subject::on(name, false) {
                assert!(all.contains(&subject), "{subject:?}");
            }
            assert!(Subject::on(name, true).contains(&Subject::Peer(Peer::Jacoco)));
        }
        assert_eq!(
            all.iter().filter(|subject| matches!(subject, Subject::LaterPasses(_))).count(),
            Peer::ALL.len()
        );
    }

    #[test]
    fn later_passes_are_measured_in_the_first_round() {
        let subject = Subject::LaterPasses(Peer::AsmCopy);
        assert_eq!((0..5).filter(|round| subject.is_in_round(*round)).count(), 2);
        assert!(subject.is_in_round(0));
        assert!((0..5).all(|round| Subject::OneThread.is_in_round(round)));
    }
}
