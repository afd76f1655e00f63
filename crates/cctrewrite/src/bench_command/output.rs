//! The results of `bench`: for people, for programs, for CI servers.

use std::io::{self, Write};

use cct_build::text::{counted, readable};
use cct_profile::diff::Change;
use cct_profile::report::{aligned, grouped};
use cct_profile::{Exactness, Metric};
use serde_json::{Value, json};

use super::baseline::Conditions;
use super::causes::Cause;
use super::history::HistoryLine;
use super::numbers::{counted_entries, signed};
use super::sources::{SourceLine, Sources};
use super::variation::{FirstDifference, Variation};
use super::verdict::{Judgement, Scope, Verdict};
use crate::args::Bench;
use crate::ci::github::{Kind, annotate, annotate_at};
use crate::ci::junit::{Case, Suite};
use crate::json::{ExactnessRow, Object};

/// The title of outputs for other programs.
pub const NAME: &str = "cctrewrite bench";

/// Maximum number of methods shown for an entry that has changed.
pub const METHODS: usize = 5;

/// Maximum number of calls shown that may be why the counts of an entry vary.
pub const CAUSES: usize = 3;

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
    /// Where methods are in the sources.
    pub sources: Sources,
    /// The entries.
    pub judged: Vec<Judgement>,
    /// The lines of the history with those of this run; `None` if the user names none.
    pub history: Option<Vec<HistoryLine>>,
}

impl Results<'_> {
    /// Whether any entry fails.
    pub fn fails(&self) -> bool {
        self.judged.iter().any(|judged| judged.verdict.fails())
    }

    /// The entries that fail, each with the reason.
    pub fn failures(&self) -> impl Iterator<Item = (&Judgement, String)> {
        let of = |judged| Judgement::failure(judged, self.metric, self.arguments.fail_above);
        self.judged.iter().filter_map(move |judged| Some((judged, of(judged)?)))
    }

    /// What is not compared, for the last line.
    pub fn compared_alone(&self) -> String {
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
    pub fn verdict(&self) -> String {
        let entries = counted_entries(self.judged.len());
        let failed = self.failures().count();
        match (self.arguments.update, failed) {
            (true, 0) => {
                let varying = self.judged.iter().filter(|judged| judged.variation.is_some()).count();
                let ranges = match varying {
                    0 => String::new(),
                    _ => format!("; {} with a range, since their counts vary", grouped(varying as u128)),
                };
                format!("{entries} stored in {}{ranges}", self.arguments.baseline.display())
            }
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
        let changes = judged.map_or(&[][..], changes);
        for (method, change) in changes.iter().take(METHODS) {
            writeln!(out, "    {}  {}", signed(*change), readable(method.as_bytes()))?;
        }
        if changes.len() > METHODS {
            writeln!(out, "    and {} more", counted((changes.len() - METHODS) as u64, "method"))?;
        }
        if let Some(variation) = judged.and_then(|judged| judged.variation.as_ref()) {
            variation_text(variation, results.metric, out)?;
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

/// The methods that have changed since the baseline, or between JVMs.
pub fn changes(judged: &Judgement) -> &[(String, Change)] {
    match (&judged.verdict, &judged.variation) {
        (Verdict::Compared { methods, .. }, _) => methods,
        (Verdict::Stored { .. }, _) => &[],
        (_, Some(variation)) => &variation.methods,
        (_, None) => &[],
    }
}

/// Says by how much the counts of an entry vary, where they differ first, and why they may.
fn variation_text(variation: &Variation, metric: Metric, out: &mut dyn Write) -> io::Result<()> {
    let range = variation.range(metric);
    let percent = range.percent().map_or(String::new(), |percent| format!(" by {percent:.2} %"));
    writeln!(
        out,
        "    varies{percent} between {} JVMs: {} to {} {}",
        variation.jvms,
        grouped(range.base),
        grouped(range.new),
        metric.name()
    )?;
    if let Some(FirstDifference { path, own, calls }) = &variation.first {
        let (change, unit) = if own.size() > 0 { (own, metric.name()) } else { (calls, "calls") };
        let path: Vec<String> = path.iter().map(|frame| readable(frame.as_bytes())).collect();
        let (method, callers) = path.split_last().map_or(("", &[][..]), |(last, rest)| (last, rest));
        let below = callers.last().map_or(String::new(), |caller| format!(", called by {caller}"));
        let (base, new) = (grouped(change.base), grouped(change.new));
        writeln!(out, "    differs first in {method}: {base} and {new} {unit}{below}")?;
    }
    for (Cause { source, caller, reader }, calls) in variation.causes.iter().take(CAUSES) {
        let (caller, reader) = (readable(caller.as_bytes()), readable(reader.as_bytes()));
        let times = counted(u64::try_from(*calls).unwrap_or(u64::MAX), "call");
        let (does, remedy) = (source.in_words(), source.remedy());
        writeln!(out, "    {caller} {does} ({reader}, {times}): {remedy}")?;
    }
    if variation.causes.len() > CAUSES {
        let more = counted((variation.causes.len() - CAUSES) as u64, "call");
        writeln!(out, "    and {more} of such methods more (--format json has all)")?;
    }
    Ok(())
}

fn row(judged: &Judgement, results: &Results<'_>) -> [String; 6] {
    let counts = results.scope.count(&judged.counts);
    let entry = readable(judged.entry.text().as_bytes());
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
        Verdict::Unsteady { .. } | Verdict::Flaky { .. } => {
            return [number, "varies".to_owned(), String::new(), grouped(counts.calls), String::new(), entry];
        }
    };
    let percent = change.percent().filter(|percent| *percent != 0.0);
    let percent = percent.map_or(String::new(), |percent| format!("{percent:+.2} %"));
    [number, signed(change), percent, grouped(counts.calls), signed(calls), entry]
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
    let pair = |change: &Change| json!({ "base": change.base as u64, "new": change.new as u64 });
    let methods: Vec<Value> = changes(judged)
        .iter()
        .map(|(name, change)| changed_method(name, *change, &results.sources))
        .collect();
    let change = match &judged.verdict {
        Verdict::Compared { change, .. } => pair(change),
        _ => Value::Null,
    };
    json!({
        "entry": judged.entry.text(),
        "status": judged.verdict.status().name(),
        "calls": judged.counts.all.calls as u64,
        "bytecodes": judged.counts.all.bytecodes as u64,
        "program_calls": judged.counts.program.calls as u64,
        "program_bytecodes": judged.counts.program.bytecodes as u64,
        "other_threads": judged.elsewhere as u64,
        "change": change,
        "methods": methods,
        "variation": judged.variation.as_ref().map(|variation| variation_json(variation, results)),
        "failure": judged.failure(results.metric, results.arguments.fail_above),
    })
}

fn changed_method(name: &str, change: Change, sources: &Sources) -> Value {
    let place = sources.find(name);
    json!({
        "method": name,
        "base": change.base as u64,
        "new": change.new as u64,
        "file": place.as_ref().map(|place| &place.file),
        "line": place.as_ref().map(|place| place.line),
    })
}

fn variation_json(variation: &Variation, results: &Results<'_>) -> Value {
    let range = variation.range(results.metric);
    let pair = |change: &Change| json!({ "base": change.base as u64, "new": change.new as u64 });
    let methods = variation.methods.iter();
    let causes = variation.causes.iter().map(|(cause, calls)| {
        json!({
            "source": cause.source.name(),
            "caller": cause.caller,
            "reader": cause.reader,
            "calls": *calls as u64,
            "remedy": cause.source.remedy(),
        })
    });
    json!({
        "jvms": variation.jvms,
        "least": range.base as u64,
        "most": range.new as u64,
        "methods": methods.map(|(name, change)| changed_method(name, *change, &results.sources)).collect::<Vec<_>>(),
        "first": variation.first.as_ref().map(|first| {
            json!({ "path": first.path, "own": pair(&first.own), "calls": pair(&first.calls) })
        }),
        "causes": causes.collect::<Vec<_>>(),
    })
}

/// The place of the method of the program that has grown most, for an annotation.
fn place(judged: &Judgement, sources: &Sources) -> Option<SourceLine> {
    let grown = changes(judged).iter().filter(|(_, change)| change.new > change.base);
    grown.filter_map(|(name, _)| sources.find(name)).next()
}

/// Writes a test for each entry.
pub fn junit(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    let failure = |judged: &Judgement| judged.failure(results.metric, results.arguments.fail_above);
    let case = |judged: &Judgement| Case { name: judged.entry.to_string(), failure: failure(judged) };
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
    for (judged, failure) in results.failures() {
        match place(judged, &results.sources) {
            Some(place) => annotate_at(Kind::Error, NAME, (&place.file, place.line), &failure, out)?,
            None => annotate(Kind::Error, NAME, &failure, out)?,
        }
    }
    annotate(Kind::Notice, NAME, &results.verdict(), out)
}
