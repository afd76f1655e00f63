//! The file of a history: JSON, a line for each run of an entry. A run appends its lines all
//! together or not at all.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_build::pending_file::PendingFile;
use cct_profile::Metric;
use serde::{Deserialize, Serialize};

use super::super::baseline::Conditions;
use super::super::counts::Count;
use super::super::verdict::{Judgement, Status, Verdict};

/// The version of the format.
const VERSION: u32 = 1;

/// What a user says of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLabels<'a> {
    /// The program's revision, such as a commit.
    pub revision: Option<&'a str>,
    /// The time of the run.
    pub time: Option<&'a str>,
}

/// A line of the file: an entry in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryLine {
    #[serde(rename = "cctrewrite bench history")]
    version: u32,
    /// The entry.
    pub entry: String,
    /// The program's revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// The time of the run, as the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
    /// The verdict.
    pub status: Status,
    /// The metric that is compared.
    pub metric: String,
    /// The number of this metric. If JVMs disagree: the one that `bench` shows.
    pub value: u64,
    /// The least and the most of all JVMs; `None` if they agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[u64; 2]>,
    /// The number with which the baseline was compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<u64>,
    /// Calls.
    pub calls: u64,
    /// The number of the metric, and calls, of the program's own classes.
    pub program: [u64; 2],
    /// The conditions of the run.
    #[serde(flatten)]
    pub conditions: Conditions,
}

impl HistoryLine {
    /// The line of a judged entry.
    pub fn of(
        judged: &Judgement,
        metric: Metric,
        conditions: &Conditions,
        labels: RunLabels<'_>,
    ) -> HistoryLine {
        let number = |number: u128| u64::try_from(number).unwrap_or(u64::MAX);
        let value = |count: Count| number(count.of(metric));
        let range = judged.variation.as_ref().map(|variation| variation.range(metric));
        HistoryLine {
            version: VERSION,
            entry: judged.entry.text().to_owned(),
            revision: labels.revision.map(str::to_owned),
            time: labels.time.map(str::to_owned),
            status: judged.verdict.status(),
            metric: metric.name().to_owned(),
            value: value(judged.counts.all),
            range: range.map(|range| [number(range.base), number(range.new)]),
            baseline: match &judged.verdict {
                Verdict::Compared { change, .. } => Some(number(change.base)),
                Verdict::Flaky { base } => Some(number(*base)),
                _ => None,
            },
            calls: number(judged.counts.all.calls),
            program: [value(judged.counts.program), number(judged.counts.program.calls)],
            conditions: conditions.clone(),
        }
    }

    /// Whether the counts of both lines can be compared.
    pub fn is_comparable(&self, other: &HistoryLine) -> bool {
        let is_same = |a: &Conditions, b: &Conditions| {
            (&a.jdk, &a.settings, a.warm_up) == (&b.jdk, &b.settings, b.warm_up)
        };
        self.metric == other.metric && is_same(&self.conditions, &other.conditions)
    }
}

/// The lines of a file.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    lines: Vec<HistoryLine>,
}

impl History {
    /// Reads a file that must exist.
    pub fn read(path: &Path) -> Result<History> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(History { path: path.to_owned(), lines: lines(&text, path)? })
    }

    /// Reads a file to append to, which may be missing.
    pub fn read_or_new(path: &Path) -> Result<History> {
        Ok(History { path: path.to_owned(), lines: lines(&present(path)?, path)? })
    }

    /// The lines, the oldest first.
    pub fn lines(&self) -> &[HistoryLine] {
        &self.lines
    }

    /// Appends the lines of a run: all of them, or none if that fails. Another command may have
    /// appended to the file since it was read.
    pub fn append(&mut self, new: Vec<HistoryLine>) -> Result<()> {
        let path = &self.path;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Where folders cannot be locked, two commands at once may lose the lines of one.
        let lock = File::open(folder.unwrap_or(Path::new("."))).ok();
        let _ = lock.as_ref().map(File::lock);
        let mut text = present(path)?;
        let mut all = lines(&text, path)?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for line in &new {
            text += &serde_json::to_string(line).context("cannot write a line of the history")?;
            text.push('\n');
        }
        PendingFile::write(path, |out| out.write_all(text.as_bytes()))?.commit()?;
        all.extend(new);
        self.lines = all;
        Ok(())
    }
}

/// The text of a file; empty if there is none.
fn present(path: &Path) -> Result<String> {
    let cannot = || format!("cannot read {}", path.display());
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(cannot),
        Ok(found) if !found.is_file() => bail!("{}: no file, so nothing can be appended", path.display()),
        Ok(_) => fs::read_to_string(path).with_context(cannot),
    }
}

/// The version alone: a later one may have other members.
#[derive(Deserialize)]
struct Version {
    #[serde(rename = "cctrewrite bench history")]
    version: u32,
}

fn lines(text: &str, path: &Path) -> Result<Vec<HistoryLine>> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("{}, line {number}", path.display());
        let not_one = || format!("{}: no line of a history of cctrewrite bench", place());
        let Version { version } = serde_json::from_str(line).with_context(not_one)?;
        if version != VERSION {
            bail!("{}: format version {version}; this version of cctrewrite reads {VERSION}", place());
        }
        lines.push(serde_json::from_str(line).with_context(not_one)?);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{conditions, four_entries};
    use super::*;

    fn run(revision: &str) -> Vec<HistoryLine> {
        let labels = RunLabels { revision: Some(revision), time: None };
        let of = |judged: &Judgement| HistoryLine::of(judged, Metric::Bytecodes, &conditions(), labels);
        four_entries().iter().map(of).collect()
    }

    #[test]
    fn appended_lines_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        let mut history = History::read_or_new(&path).unwrap();
        assert!(!path.exists() && History::read(&path).is_err());
        history.append(run("a")).unwrap();
        // Another command appends meanwhile, and an editor takes the last line end away.
        History::read_or_new(&path).unwrap().append(run("b")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.trim_end()).unwrap();
        history.append(run("c")).unwrap();
        let all = [run("a"), run("b"), run("c")].concat();
        assert_eq!(history.lines(), all);
        assert_eq!(History::read(&path).unwrap().lines(), all);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text.lines().next().unwrap(),
            "{\"cctrewrite bench history\":1,\"entry\":\"app.A.grows\",\"revision\":\"a\",\
             \"status\":\"exceeds\",\"metric\":\"bytecodes\",\"value\":1203400,\"baseline\":1203000,\
             \"calls\":3,\"program\":[1203400,3],\"java\":\"17.0.1\",\"jdk\":\"00ff\",\
             \"settings\":\"blocks=exact\",\"warm_up\":1}"
        );
        assert!(text.lines().nth(2).unwrap().contains("\"status\":\"flaky\""), "{text}");
        assert!(text.lines().nth(2).unwrap().contains("\"range\":[1000,1010]"), "{text}");
    }

    #[test]
    fn what_is_no_history_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.jsonl");
        History::read_or_new(&path).unwrap().append(run("a")).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        let cut = &good[..good.len() - 10];
        let later = good.replacen("history\":1", "history\":2", 1);
        for (text, what) in [
            (cut, "line 4: no line of a history"),
            (&*later, "line 1: format version 2"),
            ("<<<<<<< main\n", "line 1: no line"),
            ("[]", "line 1: no line"),
            (&*good.replace("exceeds", "fell"), "line 1: no line"),
        ] {
            fs::write(&path, text).unwrap();
            let error = History::read_or_new(&path).unwrap_err();
            assert!(format!("{error:#}").contains(what), "{error:#}");
            let mut earlier = History { path: path.clone(), lines: Vec::new() };
            assert!(earlier.append(run("b")).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let error = History::read_or_new(Path::new("/dev/null")).unwrap_err();
        assert_eq!(error.to_string(), "/dev/null: no file, so nothing can be appended");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "something is left over");
    }
}
