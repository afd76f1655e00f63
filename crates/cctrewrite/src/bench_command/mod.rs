//! `cctrewrite bench`: compares what methods of a program execute with a stored baseline
//! (docs/ci/bench.md).

mod baseline;
mod counts;
mod harness;
mod output;
mod verdict;

use std::ffi::OsStr;

use anyhow::{Result, bail};
use baseline::{Baseline, Conditions};
use cct_build::image::{fit, use_of_image};
use cct_build::target_jdk::Target;
use cct_build::text;
use cct_profile::{Exactness, Metric, Profile};
use counts::Counts;
use harness::Harness;
use verdict::{Judgement, Scope, Verdict, changed};

use crate::args::{Bench, BenchFormat, Library};
use crate::exit::{self, Outcome, say};
use crate::profile_file::View;

/// Start of the note that the profile is only of regions. `bench` records in this way, so it hides
/// the note.
const OF_REGIONS: &str = "recording was switched";

/// Runs the command.
pub fn run(arguments: &Bench) -> Result<Outcome> {
    let stored = Baseline::read(&arguments.baseline)?;
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
    let result = bench.result(judged)?;
    exit::to_stdout(|out| match arguments.format {
        BenchFormat::Text => output::text(&result, out),
        BenchFormat::Json => output::json(&result, out),
        BenchFormat::Junit => output::junit(&result, out),
        BenchFormat::Github => output::github(&result, out),
    })?;
    Ok(if result.fails() { Outcome::Different } else { Outcome::Complete })
}

/// The entries to run, in order and without duplicates.
fn entries(arguments: &Bench, stored: Option<&Baseline>) -> Result<Vec<String>> {
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
    for entry in &entries {
        let is_name = |part: &str| !part.is_empty() && !part.contains(['/', '\\', ';', '[', ']', '*', '(']);
        if !entry.contains('.') || !entry.split('.').all(is_name) || entry.contains(char::is_control) {
            let entry = text::readable(entry.as_bytes());
            bail!("{entry} is not an entry; name a method without parameters, as in app.Bench.parse");
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    entries.retain(|entry| seen.insert(entry.clone()));
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
    fn judge(&mut self, harness: &Harness<'_>, entry: String) -> Result<Judgement> {
        let mut first: Option<(Counts, u128)> = None;
        let mut differs = Vec::new();
        for _ in 0..self.arguments.runs {
            let (profile, file) = harness.run(&entry)?;
            for note in profile.notes.iter().filter(|note| !note.starts_with(OF_REGIONS)) {
                say(&format!("cctrewrite: {entry}: {note}"));
            }
            self.metric = Metric::of_profile(&profile);
            let damaged = !profile.damage.is_empty();
            let exactness = Exactness::of(&profile.meta, &profile.notes, damaged, self.metric);
            self.exactness = match (self.exactness.take(), exactness) {
                (Some(all), Some(this)) => Some(all.and(this)),
                (all, this) => all.or(this),
            };
            let library = self.library.as_ref();
            self.conditions.get_or_insert_with(|| conditions(&profile, library, self.arguments.warm_up));
            let (counts, elsewhere) = counts::of(&profile, &entry, library)?;
            if let Some(folder) = &self.arguments.profiles {
                harness.keep(&file, folder, &entry)?;
            }
            match &first {
                None => first = Some((counts, elsewhere)),
                Some((first, _)) => differs = changed(first, &counts, self.metric),
            }
            if !differs.is_empty() {
                break;
            }
        }
        let (counts, elsewhere) = first.unwrap_or_default();
        let before = self.stored.as_ref().and_then(|stored| stored.entries.get(&entry));
        let verdict = match before {
            _ if !differs.is_empty() => Verdict::NotRepeatable(differs),
            before if self.arguments.update => Verdict::Stored { before: before.map(|counts| counts.all) },
            None => Verdict::Unknown,
            Some(base) => {
                let (scope, limit) = (self.scope()?, self.arguments.fail_above);
                Verdict::compared(base, &counts, self.metric, scope, limit)
            }
        };
        Ok(Judgement { entry, counts, elsewhere, verdict })
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
                let is_run = |entry: &String| judged.iter().any(|judged| judged.entry == *entry);
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
            entries.insert(one.entry.clone(), one.counts.clone());
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
            judged,
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
