//! The viewed profiles, and their contexts: by a metric, with or without the library.

use std::path::Path;

use anyhow::{Context, Result, bail};
use cct_build::text::harmless;
use cct_profile::diff::{DiffOptions, SIDES, united_trees};
use cct_profile::names::NameStyle;
use cct_profile::origin::Origins;
use cct_profile::pair::Input;
use cct_profile::report::counted;
use cct_profile::{Profile, Selection, Summary};

use crate::args::{Library, MetricArgument, View};
use crate::exit;
use crate::profile_file::{ReadOptions, View as Part, metric, read, read_input, shown};
use crate::remedies::VIEW;
use crate::verdicts::program_and_verdicts;
use crate::view_command::contexts::Contexts;

/// How profiles are viewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The metric; `None` for the profile's own.
    pub metric: Option<MetricArgument>,
    /// Whether the library is collapsed.
    pub collapses_library: bool,
    /// Whether recursion is folded.
    pub folds_recursion: bool,
}

/// The contexts of a choice, and the lines above them.
pub struct ChosenContexts {
    pub contexts: Contexts,
    pub head: Vec<String>,
}

/// One or two profiles.
pub struct Source {
    files: Files,
    reading: ReadOptions,
    /// The library that is collapsed on request.
    library: Library,
    selection: Selection,
    /// The selection in words.
    selected: Option<String>,
}

enum Files {
    One(Box<Profile>),
    Two { base: Box<Input>, new: Box<Input>, names: [String; 2] },
}

impl Source {
    /// Reads the profiles. Also returns whether one is damaged, and the first choice.
    pub fn read(arguments: &View) -> Result<(Source, bool, Choice)> {
        let mut reading = ReadOptions::new(&arguments.parts, Part::Both)?;
        let library = reading.library.take();
        let choice = Choice {
            metric: arguments.metric,
            collapses_library: library.is_some(),
            folds_recursion: arguments.fold_recursion,
        };
        let (files, is_damaged) = match &*arguments.profiles {
            [base, new] => Source::read_two(base, new)?,
            [only] => {
                let profile = read(only)?;
                let is_damaged = !profile.damage.is_empty();
                (Files::One(Box::new(profile)), is_damaged)
            }
            _ => bail!("name one profile, or two to see what changed"),
        };
        let selection = arguments.selection.selection();
        let thread = arguments.selection.thread.iter().map(|thread| format!("threads '{thread}'"));
        let selected: Vec<String> = thread.chain(arguments.selection.in_words()).collect();
        let selected = (!selected.is_empty()).then(|| selected.join(", "));
        let library = library.unwrap_or_else(Library::jdk);
        Ok((Source { files, reading, library, selection, selected }, is_damaged, choice))
    }

    /// The source of one profile, for tests.
    #[cfg(test)]
    pub fn of_profile(profile: Profile, reading: ReadOptions) -> Source {
        Source::of_files(Files::One(Box::new(profile)), reading)
    }

    /// The source of two profiles, for tests.
    #[cfg(test)]
    pub fn of_difference(base: Profile, new: Profile, reading: ReadOptions) -> Source {
        let names = ["old.cct", "new.cct"].map(str::to_owned);
        let (base, new) = (Box::new(base.into()), Box::new(new.into()));
        Source::of_files(Files::Two { base, new, names }, reading)
    }

    #[cfg(test)]
    fn of_files(files: Files, reading: ReadOptions) -> Source {
        let (library, selection) = (Library::jdk(), Selection::default());
        Source { files, reading, library, selection, selected: None }
    }

    fn read_two(base: &Path, new: &Path) -> Result<(Files, bool)> {
        let everything = ReadOptions::everything();
        let names = [base, new].map(|path| harmless(&shown(path)));
        let (base, new) = (read_input(base, &everything)?, read_input(new, &everything)?);
        let is_damaged = !base.incomplete.is_empty() || !new.incomplete.is_empty();
        Ok((Files::Two { base: Box::new(base), new: Box::new(new), names }, is_damaged))
    }

    /// The metrics that all profiles have, the default one first.
    pub fn metrics(&self) -> Vec<MetricArgument> {
        match &self.files {
            Files::One(profile) => metrics(profile),
            Files::Two { base, new, .. } => {
                let in_base = metrics(&base.profile);
                metrics(&new.profile).into_iter().filter(|metric| in_base.contains(metric)).collect()
            }
        }
    }

    /// The contexts of a choice.
    pub fn choose(&mut self, choice: Choice) -> Result<ChosenContexts> {
        self.reading.view = Part::of(choice.metric);
        if !choice.collapses_library {
            return self.chosen(choice);
        }
        let library = std::mem::replace(&mut self.library, Library::jdk());
        self.reading.library = Some(library);
        let chosen = self.chosen(choice);
        if let Some(library) = self.reading.library.take() {
            self.library = library;
        }
        chosen
    }

    fn chosen(&self, choice: Choice) -> Result<ChosenContexts> {
        match &self.files {
            Files::One(profile) => self.of_one(profile, choice),
            Files::Two { base, new, names } => self.of_two(base, new, names, choice),
        }
    }

    fn of_one(&self, profile: &Profile, choice: Choice) -> Result<ChosenContexts> {
        let objects = profile.object_totals();
        let profile = self.reading.of(profile.clone())?;
        let summary = Summary { objects, ..Summary::of(&profile) };
        let metric = metric(choice.metric, &summary)?;
        let profile = profile.with_native_callers();
        let profile = if self.selection.is_everything() {
            profile
        } else {
            self.selection.of_profile(profile, NameStyle::Normalised)?.profile
        };
        let contexts = Contexts::of_profile(&profile, metric, choice.folds_recursion)?;
        Ok(ChosenContexts { contexts, head: program_and_verdicts(&summary, self.selected.as_deref()) })
    }

    fn of_two(
        &self,
        base: &Input,
        new: &Input,
        names: &[String; 2],
        choice: Choice,
    ) -> Result<ChosenContexts> {
        let options = DiffOptions {
            selection: self.selection.clone(),
            calls_only: choice.metric == Some(MetricArgument::Calls),
            recursion: choice.folds_recursion,
            ..DiffOptions::default()
        };
        let side = |input: &Input| self.reading.of_input(input.clone());
        let trees = united_trees(side(base)?, side(new)?, &options, &Origins::default());
        let trees = trees.map_err(|error| VIEW.explained(error)).with_context(|| {
            let [base, new] = names;
            format!("cannot compare A ({base}) and B ({new})")
        })?;
        let mut head: Vec<String> =
            SIDES.iter().zip(names).map(|(side, name)| format!("{side}: {name}")).collect();
        if !trees.mismatches.is_empty() {
            let what = counted(trees.mismatches.len() as u128, "difference");
            let which: Vec<String> = trees.mismatches.iter().map(ToString::to_string).collect();
            head.push(format!("Recorded with {what}: {}", which.join(", ")));
        }
        head.extend(trees.remarks.iter().map(|remark| remark.line(SIDES, 0)));
        let head = head.iter().map(|line| harmless(line)).collect();
        Ok(ChosenContexts { contexts: Contexts::of_difference(trees)?, head })
    }

    /// Says which patterns of --drop match nothing in a single profile. In a difference the head
    /// says so.
    pub fn say_unmatched(&self) {
        let Files::One(profile) = &self.files else { return };
        for pattern in &self.selection.drop {
            let matches = |method| pattern.matches_method(method, NameStyle::Normalised);
            if !profile.methods.iter().any(matches) {
                exit::say(&format!("cctrewrite: no method matches --drop '{}'", pattern.given()));
            }
        }
    }
}

/// The metrics of a profile, the default one first.
fn metrics(profile: &Profile) -> Vec<MetricArgument> {
    if profile.is_of_objects() {
        return vec![MetricArgument::Allocations];
    }
    let columns = profile.columns();
    let bytecodes = profile.counts_bytecodes().then_some(MetricArgument::Bytecodes);
    let objects = profile.counts_objects().then_some(MetricArgument::Allocations);
    let columns = cct_columns::Column::all()
        .filter(|column| columns.iter().any(|other| other.name() == column.name()))
        .map(MetricArgument::Column);
    bytecodes.into_iter().chain([MetricArgument::Calls]).chain(objects).chain(columns).collect()
}
