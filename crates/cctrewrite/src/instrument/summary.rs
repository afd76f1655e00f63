//! The summary of a run, for people, and the completeness report, for machines.

use std::collections::BTreeMap;
use std::time::Duration;

use cct_rewrite::plan::Treatment;
use cct_rewrite::report::Fallback;
use cct_rewrite::{Settings, World};
use serde::Serialize;

use super::TOOL;
use super::driver::Record;

/// What a run did.
#[derive(Debug)]
pub struct Summary {
    settings: Settings,
    /// What a user should hear.
    pub notices: Vec<String>,
    classes: u64,
    bytes_before: u64,
    bytes_after: u64,
    counts: BTreeMap<Treatment, u64>,
    excluded: u64,
    unknown_owner_sites: u64,
    tie_breaks: u64,
    report: Vec<ReportedClass>,
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
    metrics: &'static str,
    blocks: &'static str,
    treatments: BTreeMap<&'static str, u64>,
    not_recorded: u64,
    notices: &'s [String],
    classes: &'s [ReportedClass],
}

impl Summary {
    /// An empty summary.
    pub fn new(settings: Settings) -> Self {
        Summary {
            settings,
            notices: Vec::new(),
            classes: 0,
            bytes_before: 0,
            bytes_after: 0,
            counts: BTreeMap::new(),
            excluded: 0,
            unknown_owner_sites: 0,
            tie_breaks: 0,
            report: Vec::new(),
        }
    }

    /// Notes classes of one name and different contents.
    pub fn duplicates(&mut self, world: &World) {
        for &(first, second) in &world.duplicates {
            let name = cct_classfile::mutf8::decode_lossy(&world[first].summary.name).into_owned();
            if world[second].role == cct_rewrite::Role::Input && !name.ends_with("module-info") {
                self.notices.push(format!("class {name} occurs twice with different contents; the first one is the one others are checked against"));
            }
        }
    }

    /// Takes an output's account.
    pub fn add_output(&mut self, account: &cct_archive::Rewritten<Record>) {
        self.notices.extend(account.notices.iter().map(ToString::to_string));
        for record in &account.records {
            let r = &record.report;
            self.classes += 1;
            self.bytes_before += r.bytes_before as u64;
            self.bytes_after += r.bytes_after as u64;
            self.excluded += u64::from(r.excluded);
            self.unknown_owner_sites += u64::from(r.unknown_owner_sites);
            self.tie_breaks += u64::from(r.tie_breaks);
            for (&t, &n) in &r.counts {
                *self.counts.entry(t).or_default() += u64::from(n);
            }
            for (method, fallback) in &r.fallbacks {
                let what = fallback.describe();
                let level = if *fallback == Fallback::NotInstrumented { "warning: " } else { "" };
                self.notices.push(format!("{level}{}.{method}: {what}", r.class));
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

    /// The completeness report.
    pub fn completeness(&self) -> Completeness<'_> {
        Completeness {
            tool: TOOL,
            metrics: self.settings.metrics_name(),
            blocks: self.settings.blocks_name(),
            treatments: self.counts.iter().map(|(t, &n)| (t.name(), n)).collect(),
            not_recorded: self.excluded,
            notices: &self.notices,
            classes: &self.report,
        }
    }

    /// Prints the summary on stderr.
    pub fn print(&self, elapsed: Duration) {
        for notice in &self.notices {
            eprintln!("{notice}");
        }
        let methods: u64 = self.counts.values().sum();
        let growth = if self.bytes_before == 0 { 1.0 } else { self.bytes_after as f64 / self.bytes_before as f64 };
        eprintln!("{} classes, {methods} methods, class bytes x{growth:.2}, {:.2} s", self.classes, elapsed.as_secs_f64());
        for (treatment, n) in &self.counts {
            eprintln!("  {n:>8} {}", treatment.name());
        }
        if self.tie_breaks > 0 {
            eprintln!("  {:>8} added where a class inherits a method from unrelated interfaces", self.tie_breaks);
        }
        if self.excluded > 0 {
            eprintln!("  {:>8} not recorded (excluded)", self.excluded);
        }
        if self.unknown_owner_sites > 0 {
            eprintln!(
                "{} call sites name classes that are in no input and no --library: natives called there are not counted",
                self.unknown_owner_sites
            );
        }
    }
}
