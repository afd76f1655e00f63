//! Records of the last run of each program of Maven Central, next to its files, and the table
//! computed from them.
//!
//! A catalogue of this size runs for hours, in parts on different days, so the table is computed
//! from records.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use walkdir::WalkDir;

use super::case::{Case, ProfiledRun};
use super::mode::Mode;
use super::table::{grouped, verdict, version};

/// The record's name in a program's folder.
const FILE: &str = "record.json";

/// The record of one program on one JDK, plain and under `cctrewrite run`.
#[derive(Clone, Debug, PartialEq)]
struct Record {
    program: String,
    version: String,
    jdk: u64,
    verdict: String,
    /// Processor time plain and profiled, in seconds.
    cpu: [f64; 2],
    /// Peak memory plain and profiled, in KiB.
    peak: [u64; 2],
    /// 0 if there is no profile.
    contexts: u64,
    bytecodes: u64,
}

/// Stores the results of a case, in the program's folder.
///
/// # Errors
/// Fails if the file cannot be written.
pub fn keep(case: &Case, folder: &Path) -> Result<()> {
    let Some(run) = case.profiled.iter().find(|run| run.mode == Mode::Run) else { return Ok(()) };
    let file = folder.join(FILE);
    let text = Record::of(case, run).to_json().to_string();
    fs::write(&file, text).with_context(|| format!("write {}", file.display()))
}

/// The table of all records below `programs` (a folder for each JDK, with one for each program), in
/// Markdown.
///
/// # Errors
/// Fails if a record cannot be read.
pub fn table(programs: &Path) -> Result<String> {
    let mut records = Vec::new();
    for entry in WalkDir::new(programs).min_depth(3).max_depth(3).sort_by_file_name() {
        let entry = entry.with_context(|| format!("read {}", programs.display()))?;
        let file = entry.path();
        if entry.file_name() == FILE && file.is_file() {
            let damaged = || format!("damaged record {}", file.display());
            let value: Value = serde_json::from_str(&fs::read_to_string(file)?).with_context(damaged)?;
            records.push(Record::from_json(&value).with_context(damaged)?);
        }
    }
    Ok(text(records))
}

/// A row for each program; where JDKs differ, a cell has their values in the order of the JDKs.
fn text(records: Vec<Record>) -> String {
    let mut programs: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for record in records {
        programs.entry(record.program.clone()).or_default().push(record);
    }
    let mut text =
        "| program | version | JDK | | plain, CPU s | CPU | plain, MB | memory | contexts | bytecodes |\n\
                    |---|---|---|---|---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for (program, mut of) in programs {
        of.sort_by_key(|record| record.jdk);
        let cell = |value: &dyn Fn(&Record) -> String| {
            let values: Vec<String> = of.iter().map(value).collect();
            match values.split_first() {
                Some((first, others)) if others.iter().all(|other| other == first) => first.clone(),
                _ => values.join(" / "),
            }
        };
        // Of the newest JDK: the other JDKs' numbers are similar.
        let newest = |value: fn(&Record) -> u64| of.last().map_or(0, value);
        let jdks: Vec<String> = of.iter().map(|record| record.jdk.to_string()).collect();
        let cells = [
            program,
            of.first().map_or_else(String::new, |record| record.version.clone()),
            jdks.join(" / "),
            cell(&|record| record.verdict.clone()),
            cell(&|record| format!("{:.1}", record.cpu[0])),
            cell(&|record| format!("{:.1}x", record.cpu[1] / record.cpu[0])),
            cell(&|record| (record.peak[0] / 1024).to_string()),
            cell(&|record| {
                let [plain, profiled] =
                    record.peak.map(|kib| u32::try_from(kib).map_or(f64::INFINITY, f64::from));
                format!("{:.1}x", profiled / plain)
            }),
            grouped(newest(|record| record.contexts)),
            grouped(newest(|record| record.bytecodes)),
        ];
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

impl Record {
    fn of(case: &Case, run: &ProfiledRun) -> Record {
        let totals = run.outcome.profile.as_ref().and_then(|profile| profile.as_ref().ok());
        Record {
            program: case.program.name.to_owned(),
            version: version(case).to_owned(),
            jdk: case.jdk.into(),
            verdict: verdict(run).to_owned(),
            cpu: [case.plain.cpu_seconds, run.outcome.cpu_seconds],
            peak: [case.plain.peak_kib, run.outcome.peak_kib],
            contexts: totals.map_or(0, |totals| totals.contexts as u64),
            bytecodes: totals.map_or(0, |totals| totals.bytecodes),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "program": self.program, "version": self.version, "jdk": self.jdk, "verdict": self.verdict,
            "cpu": self.cpu, "peak": self.peak, "contexts": self.contexts, "bytecodes": self.bytecodes,
        })
    }

    fn from_json(value: &Value) -> Option<Record> {
        let of: &Map<String, Value> = value.as_object()?;
        let text = |name: &str| Some(of.get(name)?.as_str()?.to_owned());
        let number = |name: &str| of.get(name)?.as_u64();
        let pair = |name: &str| of.get(name)?.as_array().filter(|pair| pair.len() == 2);
        let (cpu, peak) = (pair("cpu")?, pair("peak")?);
        Some(Record {
            program: text("program")?,
            version: text("version")?,
            jdk: number("jdk")?,
            verdict: text("verdict")?,
            cpu: [cpu.first()?.as_f64()?, cpu.get(1)?.as_f64()?],
            peak: [peak.first()?.as_u64()?, peak.get(1)?.as_u64()?],
            contexts: number("contexts")?,
            bytecodes: number("bytecodes")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(jdk: u64, verdict: &str) -> Record {
        Record {
            program: "p".to_owned(),
            version: "1.2".to_owned(),
            jdk,
            verdict: verdict.to_owned(),
            cpu: [2.0, 5.0],
            peak: [102_400, 153_600],
            contexts: 1000 + jdk,
            bytecodes: 1_000_000,
        }
    }

    #[test]
    fn programs_have_a_row_with_their_jdks_in_order() {
        let rows = text(vec![record(17, "same"), record(8, "same")]);
        assert_eq!(
            rows.lines().nth(2).unwrap(),
            "| p | 1.2 | 8 / 17 | same | 2.0 | 2.5x | 100 | 1.5x | 1,017 | 1,000,000 |"
        );
        let rows = text(vec![record(17, "same"), record(8, "a cause")]);
        assert!(rows.contains("| 8 / 17 | a cause / same |"), "{rows}");
    }

    #[test]
    fn records_are_read_as_they_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("8/p");
        fs::create_dir_all(&program).unwrap();
        assert_eq!(table(folder.path()).unwrap().lines().count(), 2);
        fs::write(program.join(FILE), record(8, "same").to_json().to_string()).unwrap();
        assert_eq!(Record::from_json(&record(8, "same").to_json()), Some(record(8, "same")));
        assert_eq!(table(folder.path()).unwrap(), text(vec![record(8, "same")]));
        fs::write(program.join(FILE), "{\"program\": \"p\"}").unwrap();
        assert!(table(folder.path()).unwrap_err().to_string().contains("damaged record"));
    }
}
