//! The results of `bench`: for people, for programs, for CI servers.

use std::io::{self, Write};

use cct_build::text::{counted, readable};
use cct_profile::diff::Change;
use cct_profile::report::{aligned, grouped};
use cct_profile::{Exactness, Metric};
use serde_json::{Value, json};

use super::baseline::Conditions;
use super::verdict::{Judgement, Scope, Verdict};
use crate::args::Bench;
use crate::ci::github::{Kind, annotate};
use crate::ci::junit::{Case, Suite};
use crate::json::{ExactnessRow, Object};

const NAME: &str = "cctrewrite bench";

/// Maximum number of methods shown for an entry that has changed.
const METHODS: usize = 5;

/// The results of all entries.
pub struct Results<'a> {
    /// The command line.
    pub arguments: &'a Bench,
    /// The conditions of this run.
    pub conditions: Conditions,
    /// The conditions of the baseline, if there is one.
    pub base: Option<Conditions>,
    /// The part of the counts that is compared.
    pub scope: Scope,
    /// How exact the counts are; `None` if nothing was run.
    pub exactness: Option<Exactness>,
    /// The metric that is compared.
    pub metric: Metric,
    /// The entries.
    pub judged: Vec<Judgement>,
}

impl Results<'_> {
    /// Whether any entry fails.
    pub fn fails(&self) -> bool {
        self.judged.iter().any(|judged| judged.verdict.fails())
    }

    fn failures(&self) -> impl Iterator<Item = (&Judgement, String)> {
        let of = |judged| Judgement::failure(judged, self.metric, self.arguments.fail_above);
        self.judged.iter().filter_map(move |judged| Some((judged, of(judged)?)))
    }

    /// What is not compared, for the last line.
    fn compared_alone(&self) -> String {
        match (self.scope, &self.base) {
            (Scope::Program { .. }, Some(base)) => format!(
                "; only the program's own classes were compared, as the baseline is of Java {} and this is \
                 Java {}",
                base.java, self.conditions.java
            ),
            _ => String::new(),
        }
    }

    /// The last line: how many entries fail.
    fn verdict(&self) -> String {
        let entries = counted(self.judged.len() as u64, "entry").replace("entrys", "entries");
        let failed = self.failures().count();
        match (self.arguments.update, failed) {
            (true, 0) => format!("{entries} stored in {}", self.arguments.baseline.display()),
            (_, 0) => {
                let limit = self.arguments.fail_above;
                format!("{entries}: none grew by more than {limit}{}", self.compared_alone())
            }
            (_, failed) => format!("{entries}: {} failed", grouped(failed as u128)),
        }
    }
}

/// Writes a table with the methods that have changed, and the failures.
pub fn text(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Conditions { java, settings, warm_up, .. } = &results.conditions;
    writeln!(out, "Java {java}, {settings}, {} to warm up", counted((*warm_up).into(), "run"))?;
    if let Some(exactness) = &results.exactness {
        writeln!(out, "Exact: {}", readable(exactness.to_string().as_bytes()))?;
    }
    if let (Scope::Program { .. }, Some(base)) = (results.scope, &results.base) {
        writeln!(
            out,
            "The baseline is from another JDK ({}): only counts of the program's own classes are compared",
            base.java
        )?;
    }
    writeln!(out)?;
    let head = [results.metric.name(), "change", "%", "calls", "change", "entry"].map(str::to_owned);
    let rows: Vec<_> =
        std::iter::once(head).chain(results.judged.iter().map(|one| row(one, results))).collect();
    for (line, judged) in aligned(&rows).zip(std::iter::once(None).chain(results.judged.iter().map(Some))) {
        writeln!(out, "{line}")?;
        let changes: &[(String, Change)] = match judged.map(|judged| &judged.verdict) {
            Some(Verdict::Compared { methods, .. } | Verdict::NotRepeatable(methods)) => methods,
            _ => &[],
        };
        for (method, change) in changes.iter().take(METHODS) {
            writeln!(out, "    {}  {}", signed(*change), readable(method.as_bytes()))?;
        }
        if changes.len() > METHODS {
            writeln!(out, "    and {} more", counted((changes.len() - METHODS) as u64, "method"))?;
        }
        if let Some(judged) = judged.filter(|judged| judged.elsewhere > 0) {
            let (number, metric) = (grouped(judged.elsewhere), results.metric.name());
            writeln!(
                out,
                "    other threads executed {number} {metric} in this time, which are not counted here; `cctrewrite run` and `diff` count them"
            )?;
        }
    }
    writeln!(out)?;
    for (_, failure) in results.failures() {
        writeln!(out, "FAILED: {}", readable(failure.as_bytes()))?;
    }
    writeln!(out, "{}", results.verdict())
}

fn row(judged: &Judgement, results: &Results<'_>) -> [String; 6] {
    let counts = match results.scope {
        Scope::All => judged.counts.all,
        Scope::Program { .. } => judged.counts.program,
    };
    let entry = readable(judged.entry.as_bytes());
    let number = grouped(counts.of(results.metric));
    let (change, calls) = match &judged.verdict {
        Verdict::Compared { change, calls, .. } => (*change, *calls),
        Verdict::Stored { before: Some(before) } => (
            Change { base: before.of(results.metric), new: counts.of(results.metric) },
            Change { base: before.calls, new: counts.calls },
        ),
        Verdict::Stored { before: None } | Verdict::Unknown => {
            return [number, "new".to_owned(), String::new(), grouped(counts.calls), String::new(), entry];
        }
        Verdict::NotRepeatable(_) => {
            return [number, "varies".to_owned(), String::new(), grouped(counts.calls), String::new(), entry];
        }
    };
    let percent = change.percent().filter(|percent| *percent != 0.0);
    let percent = percent.map_or(String::new(), |percent| format!("{percent:+.2} %"));
    [number, signed(change), percent, grouped(counts.calls), signed(calls), entry]
}

/// The size of a change, with its sign.
fn signed(change: Change) -> String {
    let sign = match change.direction() {
        std::cmp::Ordering::Less => "-",
        std::cmp::Ordering::Equal => "",
        std::cmp::Ordering::Greater => "+",
    };
    format!("{sign}{}", grouped(change.size()))
}

/// Writes one JSON object (docs/ci/bench.md).
pub fn json(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut object = Object::new(out, NAME, 1)?;
    let Conditions { java, jdk, settings, warm_up } = &results.conditions;
    object.member("java", java)?;
    object.member("jdk", jdk)?;
    object.member("settings", settings)?;
    object.member("warm_up", warm_up)?;
    object.member("metric", results.metric.name())?;
    object.member("compared", if results.scope == Scope::All { "all" } else { "program" })?;
    object.member("exact", &results.exactness.as_ref().map(ExactnessRow::from))?;
    object.member("fails", &results.fails())?;
    object.list("entries", |list| -> io::Result<()> {
        for judged in &results.judged {
            list.item(&entry(judged, results))?;
        }
        Ok(())
    })?;
    object.end()?;
    writeln!(out)
}

fn entry(judged: &Judgement, results: &Results<'_>) -> Value {
    let (status, methods) = match &judged.verdict {
        Verdict::Stored { .. } => ("stored", None),
        Verdict::Unknown => ("unknown", None),
        Verdict::NotRepeatable(methods) => ("not repeatable", Some(methods)),
        Verdict::Compared { exceeds: true, methods, .. } => ("exceeds", Some(methods)),
        Verdict::Compared { methods, .. } => ("passes", Some(methods)),
    };
    let pair = |change: &Change| json!({ "base": change.base as u64, "new": change.new as u64 });
    let methods: Vec<Value> = methods
        .into_iter()
        .flatten()
        .map(|(name, change)| json!({ "method": name, "base": change.base as u64, "new": change.new as u64 }))
        .collect();
    let change = match &judged.verdict {
        Verdict::Compared { change, .. } => pair(change),
        _ => Value::Null,
    };
    json!({
        "entry": judged.entry,
        "status": status,
        "calls": judged.counts.all.calls as u64,
        "bytecodes": judged.counts.all.bytecodes as u64,
        "program_calls": judged.counts.program.calls as u64,
        "program_bytecodes": judged.counts.program.bytecodes as u64,
        "other_threads": judged.elsewhere as u64,
        "change": change,
        "methods": methods,
        "failure": judged.failure(results.metric, results.arguments.fail_above),
    })
}

/// Writes a test for each entry.
pub fn junit(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let failure = |judged: &Judgement| judged.failure(results.metric, results.arguments.fail_above);
    let case = |judged: &Judgement| Case { name: judged.entry.clone(), failure: failure(judged) };
    let mut shown = Vec::new();
    text(results, &mut shown)?;
    let suite = Suite {
        name: NAME.to_owned(),
        cases: results.judged.iter().map(case).collect(),
        output: String::from_utf8_lossy(&shown).into_owned(),
        trouble: None,
    };
    suite.write(out)
}

/// Writes an annotation for each entry that fails, and one for the whole result.
pub fn github(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (_, failure) in results.failures() {
        annotate(Kind::Error, NAME, &failure, out)?;
    }
    annotate(Kind::Notice, NAME, &results.verdict(), out)
}
