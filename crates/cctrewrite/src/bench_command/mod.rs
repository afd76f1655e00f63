//! `cctrewrite bench`: compares what methods of a program execute with a stored baseline
//! (docs/ci/bench.md).

mod baseline;
mod causes;
mod counts;
mod entry;
mod harness;
mod history;
mod markdown;
mod numbers;
mod output;
mod services;
mod sources;
#[cfg(test)]
mod testing;
mod variation;
mod verdict;

use std::ffi::OsStr;
use std::thread::sleep;
use std::time::Duration;

use anyhow::{Result, bail};
use baseline::{Baseline, Conditions, StoredEntry};
use cct_build::image::{fit, use_of_image};
use cct_build::pending_file::PendingFile;
use cct_build::target_jdk::Target;
use cct_profile::diff::Change;
use cct_profile::{Exactness, Metric, Profile};
use counts::{Counts, EntryRun};
use entry::Entry;
use harness::Harness;
use history::{History, HistoryLine, RunLabels};
use sources::Sources;
use variation::Variation;
use verdict::{Judgement, Scope, Verdict};

use crate::args::{Bench, BenchCommand, BenchFormat, Library};
use crate::exit::{self, Outcome, say};
use crate::profile_file::View;

/// Start of the note that the recording was switched.
const SWITCHED: &str = "recording was switched ";

/// Start of that note if only the harness switched it: on, and off.
const BY_HARNESS: &str = "recording was switched 2 times:";

/// Pauses before the JVMs of an `--update`, round-robin, so that the clock shows other seconds and
/// other milliseconds.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(130),
    Duration::from_millis(1_070),
    Duration::from_millis(410),
    Duration::from_millis(770),
];

/// Runs the command.
pub fn run(arguments: &Bench) -> Result<Outcome> {
    if let Some(BenchCommand::History(arguments)) = &arguments.command {
        return history::run(arguments);
    }
    let stored = Baseline::read(&arguments.baseline)?;
    let history = arguments.history.as_deref().map(History::read_or_new).transpose()?;
    let library = arguments.library.library()?;
    let entries = entries(arguments, stored.as_ref())?;
    let terminal = arguments.verbosity.terminal();
    let home = Target::of(OsStr::new("java"), arguments.jdk.as_deref())?.home;
    let image = use_of_image::of_home(home, |home| arguments.image(home), &terminal)?;
    fit::check_tool(&image.home, fit::ToolOutput::Profiles)?;
    fit::check_choices(&image.home, arguments.choices.0.get())?;
    let view = arguments.column.map_or(View::Contexts, |column| View::Column(column.0));
    let Bench { class_path, java_option, warm_up, .. } = arguments;
    let harness = Harness::new(image.home.clone(), class_path, java_option, *warm_up, view)?;

    let mut bench =
        Bencher { arguments, library, stored, conditions: None, exactness: None, metric: Metric::Bytecodes };
    let mut judged = Vec::with_capacity(entries.len());
    for entry in entries {
        let verdict = bench.judge(&harness, entry).inspect_err(|_| {
            // A damaged image is reported before the error.
            image.is_damaged_after_all(&terminal);
        });
        judged.push(verdict?);
    }
    if arguments.update {
        bench.store(&judged)?;
    }
    let mut result = bench.result(judged)?;
    if let Some(mut history) = history {
        history.append(lines(arguments, &result))?;
        result.history = Some(history.lines().to_vec());
    }
    if let Some(file) = &arguments.summary {
        PendingFile::write(file, |out| markdown::write(&result, out))?.commit()?;
    }
    exit::to_stdout(|out| match arguments.format {
        BenchFormat::Text => output::text(&result, out),
        BenchFormat::Json => output::json(&result, out),
        BenchFormat::Junit => output::junit(&result, out),
        BenchFormat::Github => output::github(&result, out),
        BenchFormat::Markdown => markdown::write(&result, out),
        BenchFormat::Bencher => services::bencher(&result, out),
        BenchFormat::GithubBenchmark => services::github_benchmark(&result, out),
    })?;
    Ok(if result.fails() { Outcome::Different } else { Outcome::Complete })
}

/// The lines of this run for the history.
fn lines(arguments: &Bench, results: &output::Results<'_>) -> Vec<HistoryLine> {
    let labels = RunLabels { revision: arguments.revision.as_deref(), time: arguments.time.as_deref() };
    let line = |judged| HistoryLine::of(judged, results.metric, &results.conditions, labels);
    results.judged.iter().map(line).collect()
}

/// The entries to run, in order and without duplicates.
fn entries(arguments: &Bench, stored: Option<&Baseline>) -> Result<Vec<Entry>> {
    let mut entries = arguments.entries.clone();
    let file = arguments.baseline.display();
    if entries.is_empty() {
        let Some(stored) = stored else {
            bail!("no baseline {file}; name entries, and store their counts with --update");
        };
        entries = stored.entries.keys().cloned().collect();
        if entries.is_empty() {
            bail!(
                "the baseline {file} has no entries, so nothing would be checked; store some with --update"
            );
        }
    } else if stored.is_none() && !arguments.update {
        bail!("no baseline {file}; store one with --update");
    }
    let entries: Result<Vec<Entry>, _> = entries.iter().map(|entry| entry.parse()).collect();
    let mut entries = entries?;
    let mut seen = std::collections::BTreeSet::new();
    entries.retain(|entry| seen.insert(entry.text().to_owned()));
    Ok(entries)
}

/// Runs entries and judges their counts.
pub struct Bencher<'a> {
    arguments: &'a Bench,
    /// The library whose work is added to the program's methods.
    library: Option<Library>,
    stored: Option<Baseline>,
    /// The conditions of this run; `None` before the first entry has run.
    conditions: Option<Conditions>,
    /// How exact the profiles of all entries are.
    exactness: Option<Exactness>,
    metric: Metric,
}

impl Bencher<'_> {
    /// Runs an entry in as many JVMs as the user wants, and judges its counts.
    fn judge(&mut self, harness: &Harness<'_>, entry: Entry) -> Result<Judgement> {
        let mut runs = Vec::new();
        for run in 0..self.arguments.number_of_runs() {
            if self.arguments.update && run > 0 {
                sleep(PAUSES[usize::from(run) % PAUSES.len()]);
            }
            let (profile, file) = harness.run(&entry, run)?;
            self.note(&profile, &entry);
            if let Some(folder) = &self.arguments.profiles {
                harness.keep(&file, folder, &entry)?;
            }
            runs.push(EntryRun::of(profile, &entry, self.library.as_ref())?);
        }
        let variation = Variation::of(&runs, self.metric);
        let (verdict, counts) = self.verdict(&entry, &runs, variation.as_ref())?;
        let elsewhere = runs.first().map_or(0, |run| run.elsewhere);
        Ok(Judgement { entry, counts, elsewhere, verdict, variation })
    }

    /// Shows a profile's notes, and keeps its conditions and its verdict on exactness.
    fn note(&mut self, profile: &Profile, entry: &Entry) {
        for note in profile.notes.iter().filter(|note| !note.starts_with(BY_HARNESS)) {
            let note = if note.starts_with(SWITCHED) {
                "the entry itself switches the recording (cctrewrite.api.Recording); what it executes \
                 after that is not counted"
            } else {
                note
            };
            say(&format!("cctrewrite: {entry}: {note}"));
        }
        self.metric = Metric::of_profile(profile);
        let damaged = !profile.damage.is_empty();
        let exactness = Exactness::of(&profile.meta, &profile.notes, damaged, self.metric);
        self.exactness = match (self.exactness.take(), exactness) {
            (Some(all), Some(this)) => Some(all.and(this)),
            (all, this) => all.or(this),
        };
        let library = self.library.as_ref();
        self.conditions.get_or_insert_with(|| conditions(profile, library, self.arguments.warm_up));
    }

    /// The verdict on the runs of an entry, and the counts to show or to store.
    fn verdict(
        &self,
        entry: &Entry,
        runs: &[EntryRun],
        variation: Option<&Variation>,
    ) -> Result<(Verdict, Counts)> {
        let before = self.stored.as_ref().and_then(|stored| stored.entries.get(entry.text()));
        let most = runs.iter().max_by_key(|run| run.counts.all.of(self.metric));
        let most = most.map(|run| run.counts.clone()).unwrap_or_default();
        let range = variation.map_or(Change::default(), |variation| variation.range(self.metric));
        Ok(if self.arguments.update {
            let limit = self.arguments.max_variation;
            let verdict = if range.exceeds(limit) {
                Verdict::Unsteady { limit }
            } else {
                Verdict::Stored { before: before.map(|before| before.counts.all) }
            };
            (verdict, most)
        } else if let Some(base) = before {
            let (scope, limit) = (self.scope()?, self.arguments.fail_above);
            let counts: Vec<&Counts> = runs.iter().map(|run| &run.counts).collect();
            match Verdict::on(base, &counts, self.metric, scope, limit) {
                Some((verdict, counts)) => (verdict, counts.clone()),
                None => (Verdict::Unknown, most),
            }
        } else {
            (Verdict::Unknown, most)
        })
    }

    /// What can be compared. If the baseline is of another JDK, and the user allows it, this is
    /// only what the program's own classes execute.
    fn scope(&self) -> Result<Scope> {
        let (Some(stored), Some(now)) = (&self.stored, &self.conditions) else { return Ok(Scope::All) };
        let base = &stored.conditions;
        for (what, base, now) in [
            ("settings", base.settings.clone(), now.settings.clone()),
            ("warm-up", base.warm_up.to_string(), now.warm_up.to_string()),
        ] {
            if base != now {
                bail!(
                    "{}: was made with other {what} ({base}) than now ({now}); use the same, or \
                     store all entries again with --update",
                    self.arguments.baseline.display()
                );
            }
        }
        if base.jdk == now.jdk {
            return Ok(Scope::All);
        }
        if !self.arguments.allow_mismatch {
            bail!(
                "{}: was counted on another JDK (Java {}, class library {}) than this one (Java {}, class \
                 library {}), and counts of the class library differ between JDKs; use the same JDK, store \
                 all entries again with --update, or compare the program's own classes alone with \
                 --allow-mismatch",
                self.arguments.baseline.display(),
                base.java,
                base.jdk,
                now.java,
                now.jdk
            );
        }
        Ok(Scope::Program { has_methods: self.library.is_none() })
    }

    /// Puts the counts into the baseline. Fails if the baseline would keep entries that were
    /// counted under other conditions.
    fn store(&mut self, judged: &[Judgement]) -> Result<()> {
        let Some(conditions) = self.conditions.clone() else { return Ok(()) };
        let file = &self.arguments.baseline;
        let mut entries = match self.stored.take() {
            Some(stored) if stored.conditions == conditions => stored.entries,
            Some(stored) => {
                let is_run = |entry: &String| judged.iter().any(|judged| judged.entry.text() == entry);
                if let Some(other) = stored.entries.keys().find(|entry| !is_run(entry)) {
                    bail!(
                        "{}: was made with another JDK or other settings, and {other} would not be \
                         updated; update all entries together",
                        file.display()
                    );
                }
                Default::default()
            }
            None => Default::default(),
        };
        for one in judged.iter().filter(|one| !one.verdict.fails()) {
            let least = one.variation.as_ref().map(|variation| variation.least);
            let stored = StoredEntry { counts: one.counts.clone(), least };
            entries.insert(one.entry.text().to_owned(), stored);
        }
        // A gate over nothing would always pass.
        if entries.is_empty() {
            return Ok(());
        }
        Baseline { conditions, entries }.write(file)
    }

    fn result(&self, judged: Vec<Judgement>) -> Result<output::Results<'_>> {
        let is_stored = self.arguments.update;
        let scope = if is_stored { Scope::All } else { self.scope()? };
        Ok(output::Results {
            arguments: self.arguments,
            conditions: self.conditions.clone().unwrap_or_default(),
            base: self.stored.as_ref().map(|stored| stored.conditions.clone()),
            scope,
            exactness: self.exactness.clone(),
            metric: self.metric,
            sources: Sources::of(&self.arguments.class_path),
            judged,
            history: None,
        })
    }
}

/// The conditions, other than the program, on which the counts of a profile depend.
fn conditions(profile: &Profile, library: Option<&Library>, warm_up: u16) -> Conditions {
    let meta = |key: &str| profile.meta.get(key).cloned().unwrap_or_default();
    let provenance = meta("provenance");
    let jdk = provenance.split_whitespace().find_map(|word| word.strip_prefix("jdk="));
    // Baselines from before cost models existed do not name one.
    let model = profile.meta.get("cost-model").map(|model| format!(" cost-model={model}"));
    let library = library.map(|library| format!(" {}", library.setting()));
    let settings = ["blocks", "intrinsics", "metrics", "reproducible"];
    Conditions {
        java: meta("java.version"),
        jdk: jdk.unwrap_or_default().to_owned(),
        settings: settings.map(|key| format!("{key}={}", meta(key))).join(" ")
            + &model.unwrap_or_default()
            + &library.unwrap_or_default(),
        warm_up,
    }
}
