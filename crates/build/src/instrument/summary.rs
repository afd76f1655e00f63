//! The summary of a run, for people, and the completeness report, for machines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cct_index::treatment::Treatment;
use cct_profile::report::grouped;
use cct_rewrite::report::Fallback;
use cct_settings::{NamedValues, Settings};
use serde::Serialize;

use super::treatments;
use crate::check_failed::CheckFailed;
use crate::file_error::FileError;
use crate::inputs::{TOOL, UnfitClasses};
use crate::instrument::record::Record;
use crate::marking::{Account, TreeMarking};
use crate::observer::Observer;
use crate::pending_file::PendingFile;
use crate::text::counted;
use crate::user_module::{FailedClass, TransformedClasses};

/// The summary of a run.
#[derive(Debug)]
pub struct Summary {
    settings: Settings,
    /// Notices for the user.
    notices: Vec<String>,
    /// Warnings for the user, for instance of methods that are missing from the tree.
    warnings: Vec<String>,
    outputs: Vec<PathBuf>,
    classes: u64,
    bytes_before: u64,
    bytes_after: u64,
    counts: BTreeMap<Treatment, u64>,
    excluded: u64,
    unknown_owner_sites: u64,
    tie_breaks: u64,
    pinned: u64,
    /// Number of classes that were checked against their originals.
    checked: u64,
    /// Findings of these checks, with the names of classes.
    findings: Vec<String>,
    /// Number of methods that these checks did not prove.
    unchecked: usize,
    udi: Option<ReportedModule>,
    /// The results of the rules of markers, if there are any.
    marked: Option<Box<Account>>,
    report: Vec<ReportedClass>,
}

/// The results of the user's module, for the report.
#[derive(Debug, Clone, Serialize)]
struct ReportedModule {
    module: String,
    replaced: u64,
    kept: u64,
    aborted: Vec<FailedClass>,
}

#[derive(Debug, Clone, Serialize)]
struct ReportedClass {
    class: String,
    methods: Vec<ReportedMethod>,
    #[serde(skip_serializing_if = "is_zero")]
    call_sites_of_unknown_classes: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attributes_dropped: Vec<String>,
}

#[derive(Debug, Clone, Serialize)]
struct ReportedMethod {
    name: String,
    descriptor: String,
    treatment: &'static str,
    reason: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The completeness report.
#[derive(Debug, Serialize)]
pub struct Completeness<'s> {
    tool: &'static str,
    metrics: Cow<'static, str>,
    blocks: Cow<'static, str>,
    intrinsics: &'static str,
    reproducible: bool,
    treatments: BTreeMap<&'static str, u64>,
    pinned_calls: u64,
    not_recorded: u64,
    warnings: &'s [String],
    notices: &'s [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    udi: Option<&'s ReportedModule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markers: Option<Vec<String>>,
    classes: &'s [ReportedClass],
}

impl Summary {
    /// A summary that begins with the notices of the survey.
    pub fn new(settings: Settings, notices: Vec<String>) -> Self {
        Summary {
            settings,
            notices,
            warnings: Vec::new(),
            outputs: Vec::new(),
            classes: 0,
            bytes_before: 0,
            bytes_after: 0,
            counts: BTreeMap::new(),
            excluded: 0,
            unknown_owner_sites: 0,
            tie_breaks: 0,
            pinned: 0,
            checked: 0,
            findings: Vec::new(),
            unchecked: 0,
            udi: None,
            marked: None,
            report: Vec::new(),
        }
    }

    /// Names the run after the whole that its outputs are part of.
    pub fn name(&mut self, whole: &Path) {
        self.outputs = vec![whole.to_path_buf()];
    }

    /// Adds the account of an output.
    pub fn add_output(&mut self, path: &Path, account: &cct_archive::RewriteAccount<Record>) {
        self.outputs.push(path.to_path_buf());
        for notice in account.notices.iter().map(ToString::to_string) {
            // The survey has already found some of them.
            if !self.notices.contains(&notice) {
                self.notices.push(notice);
            }
        }
        for record in &account.records {
            let r = &record.report;
            if let Some(marked) = &mut self.marked {
                marked.add(&record.marked);
            }
            if let Some((findings, tally)) = record.check.as_deref() {
                self.checked += 1;
                self.findings.extend(findings.iter().map(|f| format!("{}: {f}", r.class)));
                self.unchecked += tally.unchecked.values().map(Vec::len).sum::<usize>();
            }
            self.classes += 1;
            self.bytes_before += r.bytes_before as u64;
            self.bytes_after += r.bytes_after as u64;
            self.excluded += u64::from(r.excluded);
            self.unknown_owner_sites += u64::from(r.unknown_owner_sites);
            self.tie_breaks += u64::from(r.tie_breaks);
            self.pinned += u64::from(r.pinned);
            self.warnings.extend(r.unpinned.iter().map(|what| {
                format!("{}.{what} is not there to be pinned; profiles may differ from run to run", r.class)
            }));
            for (&t, &n) in &r.counts {
                *self.counts.entry(t).or_default() += u64::from(n);
            }
            for (method, fallback) in &r.fallbacks {
                let message = format!("{}.{method}: {}", r.class, fallback.describe());
                match fallback {
                    Fallback::NotInstrumented => self.warnings.push(message),
                    Fallback::DefaultBlocks | Fallback::CallsOnly | Fallback::CallsWithoutObjects => {
                        self.notices.push(message);
                    }
                }
            }
            if !r.methods.is_empty() || r.unknown_owner_sites > 0 || !r.dropped.is_empty() {
                self.report.push(ReportedClass {
                    class: r.class.clone(),
                    methods: r
                        .methods
                        .iter()
                        .map(|m| ReportedMethod {
                            name: m.name.clone(),
                            descriptor: m.descriptor.clone(),
                            treatment: m.treatment.name(),
                            reason: m.reason.clone(),
                        })
                        .collect(),
                    call_sites_of_unknown_classes: r.unknown_owner_sites,
                    attributes_dropped: r.dropped.clone(),
                });
            }
        }
    }

    /// Fails if the check of a class against its original found something.
    ///
    /// # Errors
    /// The first finding. That is a fault of this program.
    pub fn check(&self) -> Result<(), CheckFailed> {
        CheckFailed::unless_empty("rewritten", &self.findings)
    }

    /// Writes the completeness report to a pending file.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write_report(&self, path: &Path) -> Result<PendingFile, FileError> {
        let write = |out: &mut (dyn io::Write + Send)| {
            serde_json::to_writer_pretty(out, &self.completeness()).map_err(io::Error::from)
        };
        Ok(PendingFile::write(path, write)?)
    }

    /// The completeness report.
    fn completeness(&self) -> Completeness<'_> {
        Completeness {
            tool: TOOL,
            metrics: self.settings.metrics_name(),
            blocks: self.settings.blocks_name(),
            intrinsics: self.settings.intrinsics.name(),
            reproducible: self.settings.reproducible,
            treatments: self.counts.iter().map(|(t, &n)| (t.name(), n)).collect(),
            pinned_calls: self.pinned,
            not_recorded: self.excluded,
            warnings: &self.warnings,
            notices: &self.notices,
            udi: self.udi.as_ref(),
            markers: self.marked.as_ref().map(|account| account.lines()),
            classes: &self.report,
        }
    }

    /// Warns of classes that cannot be rewritten.
    pub fn warn_of_unfit(&mut self, unfit: &UnfitClasses) {
        let stays = |why: &String| format!("{why}; the class stays as it is, and is missing from the tree");
        self.warnings.extend(unfit.values().map(stays));
    }

    /// The results of the rules of markers, if there are any.
    pub fn marked(&self) -> Option<&Account> {
        self.marked.as_deref()
    }

    /// Starts the account of the rules of markers.
    pub fn mark(&mut self, marking: &TreeMarking) {
        self.marked = Some(Box::new(Account::new(marking)));
    }

    /// Adds the results of the user's module. Warnings name the classes that it could not handle.
    pub fn add_udi(&mut self, transformed: &TransformedClasses) {
        let TransformedClasses { identity, kept, aborted, .. } = transformed;
        let (replaced, kept, aborted) = (transformed.replaced(), *kept, aborted.clone());
        self.warnings.extend(aborted.iter().map(|FailedClass { class, reason }| {
            format!("{class}: the module left it out: {reason}; it is rewritten as it was")
        }));
        self.udi = Some(ReportedModule { module: identity.clone(), replaced, kept, aborted });
    }

    /// Reports the summary to the observer.
    pub fn say(&self, elapsed: Duration, observer: &dyn Observer) {
        for warning in &self.warnings {
            observer.warn(&format!("warning: {warning}"));
        }
        self.notices.iter().for_each(|notice| observer.note(&format!("note: {notice}")));
        self.text(elapsed).lines().for_each(|line| observer.note(line));
        self.marked.iter().flat_map(|account| account.lines()).for_each(|line| observer.note(&line));
    }

    fn text(&self, elapsed: Duration) -> String {
        let count = |n: u64| grouped(u128::from(n));
        let outputs: Vec<String> = self.outputs.iter().map(|path| path.display().to_string()).collect();
        let growth = self.bytes_after as f64 / self.bytes_before.max(1) as f64;
        let mut text = format!(
            "{}: {}, {}, {} -> {} bytes of classes (x{growth:.2}), {:.2} s\n",
            outputs.join(", "),
            counted(self.classes, "class"),
            counted(self.counts.values().sum(), "method"),
            count(self.bytes_before),
            count(self.bytes_after),
            elapsed.as_secs_f64(),
        );
        let treatments =
            self.counts.iter().map(|(treatment, &n)| (n, treatment.name(), treatments::in_brief(*treatment)));
        let others = [
            (self.pinned, "pinned", "calls of a clock that give seeds: they say the same in every run"),
            (self.tie_breaks, "added", "methods where a class inherits one from unrelated interfaces"),
            (self.excluded, "not recorded", "methods of excluded classes, in whatever form"),
            (
                self.unknown_owner_sites,
                "unknown",
                "call sites of classes in no input and no --library: natives are not counted there",
            ),
        ];
        let rows: Vec<_> = treatments.chain(others).filter(|(n, ..)| *n > 0).collect();
        let width = rows.iter().map(|(n, ..)| count(*n).len()).max().unwrap_or(0);
        let label = rows.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
        for (n, name, meaning) in rows {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {:>width$}  {name:<label$}  {meaning}", count(n));
        }
        if let Some(ReportedModule { module, replaced, kept, aborted }) = &self.udi {
            let (replaced, kept, aborted) = (count(*replaced), count(*kept), count(aborted.len() as u64));
            let _ = writeln!(
                text,
                "given to {module} first: {replaced} replaced, {kept} kept, {aborted} left out by it"
            );
        }
        if self.checked > 0 {
            let classes = counted(self.checked, "class");
            let _ = write!(text, "checked against their originals: {classes}, no findings");
            let _ = match self.unchecked {
                0 => writeln!(text),
                n => writeln!(
                    text,
                    "; not all is known of {} (`cctrewrite verify`)",
                    counted(n as u64, "method")
                ),
            };
        }
        text
    }
}
