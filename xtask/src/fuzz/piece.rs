//! One turn of one target: a run of its program, and libFuzzer's final report.

use std::fmt::{self, Display, Formatter};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use xtask_tools::watch::{Limits, to_its_end};
use xtask_tools::workspace::root;

/// Options for running all programs.
pub struct Way {
    /// A command and its first arguments to run the program with, or empty.
    pub under: Vec<String>,
    /// The length of a turn, in seconds.
    pub seconds: u64,
    /// The folder of the targets' corpora.
    pub corpora: PathBuf,
}

/// How much longer an input may be than the longest seed, in bytes: enough for more of everything,
/// without slowing the search.
const GROWTH: u64 = 4096;

/// The result of a turn.
#[derive(Debug, Default, PartialEq)]
pub struct Piece {
    /// Number of inputs tried, including those of the corpus.
    pub executions: u64,
    /// Processor time, in seconds.
    pub cpu_seconds: f64,
    /// Number of counters that were not zero for some input.
    pub coverage: u64,
    /// Number of inputs that libFuzzer keeps.
    pub corpus: u64,
    /// Peak memory, in MB.
    pub peak_mb: u64,
    /// The input that violated a property.
    pub found: Option<PathBuf>,
}

impl Display for Piece {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Piece { executions, cpu_seconds, coverage, corpus, peak_mb, found } = self;
        write!(
            f,
            "{executions} executions, {cpu_seconds:.1} s, coverage {coverage}, corpus {corpus}, {peak_mb} MB"
        )?;
        found.as_ref().map_or(Ok(()), |path| write!(f, ", found {}", path.display()))
    }
}

/// Runs a target's program for its turn. Every other turn prefers inputs that reach rare code. That
/// finds more in small formats, and takes most of the time where an input reaches much.
///
/// # Errors
/// Fails if it cannot be run, or fails in another way than by finding something.
pub fn run(name: &str, program: &Path, turn: u32, way: &Way) -> Result<Piece> {
    let (corpus, found) = (way.corpora.join(name), root().join("fuzz/artifacts").join(name));
    fs::create_dir_all(&found).with_context(|| format!("cannot make {}", found.display()))?;
    let log = tempfile::NamedTempFile::new()?;
    let mut words = way.under.iter().map(String::as_str).chain(program.to_str()).map(str::to_owned);
    let mut command = Command::new(words.next().context("a path that is no text")?);
    command.args(words).arg(&corpus).args([
        format!("-max_total_time={}", way.seconds),
        format!("-max_len={}", longest_seed(&corpus)? + GROWTH),
        format!("-artifact_prefix={}/", found.display()),
        "-timeout=10".to_owned(),
        "-rss_limit_mb=3000".to_owned(),
        format!("-entropic={}", turn % 2),
        "-print_final_stats=1".to_owned(),
        // Nobody else adds to the corpus meanwhile, and nobody reads the names.
        "-reload=0".to_owned(),
        "-print_funcs=0".to_owned(),
    ]);
    command.stdout(File::create(log.path())?).stderr(File::options().append(true).open(log.path())?);
    // Some targets write files for each input, which is faster in memory.
    let memory = Path::new("/dev/shm");
    if std::env::var_os("TMPDIR").is_none() && memory.is_dir() {
        command.env("TMPDIR", memory);
    }
    let ended = to_its_end(&mut command, Limits::of(Duration::MAX))?;
    let said = String::from_utf8_lossy(&fs::read(log.path())?).into_owned();
    let piece = Piece { cpu_seconds: ended.cpu_seconds, ..said_by(&said) };
    if ended.exit != Some(0) && piece.found.is_none() {
        let last: Vec<&str> = said.lines().rev().take(20).collect();
        bail!("{name} fails ({:?}): {}", ended.exit, last.into_iter().rev().collect::<Vec<_>>().join("\n"));
    }
    Ok(piece)
}

/// The length of the longest seed in a folder.
fn longest_seed(corpus: &Path) -> Result<u64> {
    let mut longest = 0;
    for entry in fs::read_dir(corpus).with_context(|| format!("no seeds in {}", corpus.display()))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("seed-") {
            longest = longest.max(entry.metadata()?.len());
        }
    }
    Ok(longest)
}

/// Parses libFuzzer's final lines (`PrintStats` and `PrintFinalStats` of its FuzzerLoop.cpp).
fn said_by(log: &str) -> Piece {
    let mut piece = Piece::default();
    for line in log.lines() {
        if let Some(stat) = line.strip_prefix("stat::") {
            let (name, value) = stat.split_once(':').unwrap_or_default();
            let value = value.trim().parse().unwrap_or_default();
            match name {
                "number_of_executed_units" => piece.executions = value,
                "peak_rss_mb" => piece.peak_mb = value,
                _ => {}
            }
        } else if let Some((_, path)) = line.split_once("Test unit written to ") {
            piece.found = Some(path.into());
        } else if line.starts_with('#') {
            let behind = |word: &str| {
                let mut words = line.split_whitespace().skip_while(|&other| other != word).skip(1);
                words.next()?.split('/').next()?.parse().ok()
            };
            piece.coverage = behind("cov:").unwrap_or(piece.coverage);
            piece.corpus = behind("corp:").unwrap_or(piece.corpus);
        }
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libfuzzers_words_are_understood() {
        let log = "INFO: Seed: 1\n#2\tINITED cov: 90 ft: 91 corp: 1/1b exec/s: 0 rss: 40Mb\n\
                   #4096\tNEW    cov: 391 ft: 800 corp: 484/20Kb lim: 4096 exec/s: 0 rss: 60Mb L: 3/9 MS: 1 -\n\
                   #2797893\tDONE   cov: 391 ft: 801 corp: 485/20Kb lim: 4096 exec/s: 8700 rss: 103Mb\n\
                   Done 2797893 runs in 45 second(s)\nstat::number_of_executed_units: 2797893\n\
                   stat::average_exec_per_sec:     62175\nstat::peak_rss_mb:              103\n";
        let expected =
            Piece { executions: 2_797_893, coverage: 391, corpus: 485, peak_mb: 103, ..Piece::default() };
        assert_eq!(said_by(log), expected);
    }

    #[test]
    fn what_was_found_is_named() {
        let log = "#9\tNEW    cov: 3 ft: 8 corp: 2/2b\n==7== ERROR: libFuzzer: deadly signal\n\
                   artifact_prefix='a/'; Test unit written to a/crash-0123\nstat::number_of_executed_units: 9\n";
        let piece = said_by(log);
        assert_eq!((piece.executions, piece.found.as_deref()), (9, Some(Path::new("a/crash-0123"))));
    }
}
