//! Runs of `cctrewrite` on jars: instrumenting, and checking against the originals.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use xtask_programs::place::fresh;
use xtask_tools::process;

/// The report of `cctrewrite instrument`.
pub struct InstrumentReport {
    /// The outputs, in the order of the inputs.
    pub jars: Vec<PathBuf>,
    /// Methods by treatment.
    pub treatments: BTreeMap<String, u64>,
    /// Methods and classes that are missing from the tree, each with the reason.
    pub warnings: Vec<String>,
    /// Unusual properties, each with the reason.
    pub notices: Vec<String>,
    /// Unknown attributes by name, with the number of classes whose code lost them.
    pub dropped: BTreeMap<String, u64>,
    /// Elapsed time from start to end.
    pub seconds: f64,
}

/// Rewrites jars into the folder `output`, in one run, for a JDK whose rewritten class library is
/// in `library`.
///
/// # Errors
/// Fails if `cctrewrite` fails.
pub fn instrument(
    cctrewrite: &Path,
    jars: &[PathBuf],
    library: &[PathBuf],
    output: &Path,
) -> Result<InstrumentReport> {
    fresh(output)?;
    let report = output.with_extension("report.json");
    let mut command = Command::new(cctrewrite);
    command.args(["instrument", "--quiet", "--blocks", "exact", "--report"]).arg(&report);
    command.args(jars).arg("-o").arg(output);
    for library in library {
        command.arg("--library").arg(library);
    }
    let started = Instant::now();
    process::output(&mut command)?;
    let seconds = started.elapsed().as_secs_f64();
    let text = fs::read_to_string(&report).with_context(|| format!("read {}", report.display()))?;
    let report: Value = serde_json::from_str(&text).context("the completeness report")?;
    let lines = |name: &str| strings(&report[name]).map(str::to_owned).collect::<Vec<_>>();
    let mut dropped = BTreeMap::new();
    for class in report["classes"].as_array().into_iter().flatten() {
        for name in strings(&class["attributes_dropped"]) {
            *dropped.entry(name.to_owned()).or_default() += 1;
        }
    }
    let rewritten = jars.iter().map(|jar| {
        let name = jar.file_name().with_context(|| format!("{} has no name", jar.display()))?;
        Ok(output.join(name))
    });
    Ok(InstrumentReport {
        jars: rewritten.collect::<Result<_>>()?,
        treatments: numbers(&report["treatments"]),
        warnings: lines("warnings"),
        notices: lines("notices"),
        dropped,
        seconds,
    })
}

/// The report of `cctrewrite verify`.
#[derive(Default)]
pub struct VerifyReport {
    /// Findings: each a fault.
    pub findings: Vec<String>,
    /// Number of classes compared with their originals.
    pub compared: u64,
    /// Number of proven counting probes.
    pub probes: u64,
    /// Recognised but unproven parts, by kind: number of methods.
    pub unchecked: BTreeMap<String, u64>,
    /// Elapsed time from start to end.
    pub seconds: f64,
}

/// Checks rewritten jars against their originals, one after the other.
///
/// # Errors
/// Fails if a jar cannot be read.
pub fn verify(cctrewrite: &Path, originals: &[PathBuf], rewritten: &[PathBuf]) -> Result<VerifyReport> {
    let mut checked = VerifyReport::default();
    let started = Instant::now();
    for (original, rewritten) in originals.iter().zip(rewritten) {
        let mut command = Command::new(cctrewrite);
        command.args(["verify", "--format", "json", "--limit", "0"]).arg(original).arg(rewritten);
        let ended = process::run(&mut command)?;
        // 1: there are findings.
        if !matches!(ended.status.code(), Some(0 | 1)) {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            bail!("cctrewrite verify {}: {}: {said}", original.display(), ended.status);
        }
        checked.add(original, &serde_json::from_slice(&ended.stdout).context("what verify found")?);
    }
    checked.seconds = started.elapsed().as_secs_f64();
    Ok(checked)
}

impl VerifyReport {
    fn add(&mut self, jar: &Path, found: &Value) {
        let jar = jar.file_name().unwrap_or_default().to_string_lossy();
        for finding in found["findings"].as_array().into_iter().flatten() {
            self.findings.push(format!("{jar}: {finding}"));
        }
        self.compared += found["classes"]["compared"].as_u64().unwrap_or(0);
        self.probes += found["probes"].as_u64().unwrap_or(0);
        if let Some(unchecked) = found["unchecked"].as_object() {
            for (what, methods) in unchecked {
                let number = methods.as_array().map_or(0, Vec::len) as u64;
                *self.unchecked.entry(what.clone()).or_default() += number;
            }
        }
    }
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn numbers(value: &Value) -> BTreeMap<String, u64> {
    let entries = value.as_object().into_iter().flatten();
    entries.filter_map(|(name, number)| Some((name.clone(), number.as_u64()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_verify_found_is_added_up() {
        let found = serde_json::json!({
            "findings": [{"class": "a/A", "problem": "x"}],
            "classes": {"compared": 3},
            "probes": 7,
            "unchecked": {"methods that are too large": ["a.A.f()V", "a.A.g()V"]},
        });
        let mut checked = VerifyReport::default();
        checked.add(Path::new("lib/a.jar"), &found);
        checked.add(Path::new("lib/b.jar"), &found);
        assert_eq!((checked.findings.len(), checked.compared, checked.probes), (2, 6, 14));
        assert!(checked.findings[0].starts_with("a.jar: {"), "{:?}", checked.findings);
        assert_eq!(checked.unchecked["methods that are too large"], 4);
    }
}
