//! Files that hold profiles, as the command line names them: `-` is standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_columns::Column;
use cct_profile::merge::MergeOptions;
use cct_profile::merger::Merger;
use cct_profile::pair::{Input, Kind, WholeCounts};
use cct_profile::{Damage, Metric, Pattern, Profile, Summary, Unit};

use crate::args::{ContextFilter, Library, MetricArgument, PROFILE, PartArguments, SitesArguments};
use crate::exit;

/// Whether the path means standard input (or output).
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens the file.
pub fn open(path: &Path) -> Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    if path == Path::new(PROFILE) && !path.exists() {
        bail!(
            "there is no {PROFILE} in this folder; make one with `cctrewrite run -- java ...`, or name a profile"
        );
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Box::new(file))
}

/// The file's name in messages.
pub fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads a profile, and reports its damage on standard error.
pub fn read(path: &Path) -> Result<Profile> {
    let profile = Profile::read_from(open(path)?).with_context(|| shown(path))?;
    for damage in &profile.damage {
        exit::say(&format!("cctrewrite: {}: {damage}", shown(path)));
    }
    Ok(profile)
}

/// The part of a profile that a command looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Contexts, calls and bytecodes.
    Contexts,
    /// Objects by type.
    Objects,
    /// Objects by the method that allocates them.
    Makers,
    /// Contexts, calls, and a column instead of bytecodes.
    Column(Column),
    /// All parts, as in the file.
    Both,
}

impl View {
    /// The part that a metric needs.
    pub fn of(metric: Option<MetricArgument>) -> View {
        match metric {
            Some(MetricArgument::Allocations) => View::Objects,
            Some(MetricArgument::Column(column)) => View::Column(column),
            Some(MetricArgument::Bytecodes | MetricArgument::Calls) | None => View::Contexts,
        }
    }

    /// Reduces a profile to this part.
    pub fn shown(self, profile: Profile) -> Result<Profile> {
        if matches!(self, View::Objects | View::Makers)
            && !profile.counts_objects()
            && !profile.is_of_objects()
        {
            bail!("the profile does not count objects: record it with --allocations");
        }
        Ok(match self {
            View::Contexts => profile.without_allocations()?,
            View::Objects => profile.allocations()?,
            View::Makers => profile.makers()?,
            View::Column(column) => {
                let name = column.name();
                let unit = Unit::of(name).context("a column without a name")?;
                match profile.without_allocations()?.by_column(unit) {
                    Some(profile) => profile,
                    None => bail!("the profile does not count {name}: record it with --{name}"),
                }
            }
            View::Both => profile,
        })
    }
}

/// The metric of a profile that is reduced to the part for what the user asks for ([`View::of`]).
pub fn metric(asked: Option<MetricArgument>, summary: &Summary) -> Result<Metric> {
    match asked {
        None => Ok(summary.metric()),
        Some(MetricArgument::Calls) => Ok(Metric::Calls),
        Some(MetricArgument::Allocations) => Ok(Metric::Allocations),
        // The view has the column instead of bytecodes.
        Some(MetricArgument::Column(_)) => Ok(summary.metric()),
        // With a cost model, this is the cost of bytecodes.
        Some(MetricArgument::Bytecodes) if summary.counts_bytecodes => Ok(summary.metric()),
        Some(MetricArgument::Bytecodes) => bail!("the profile counts calls only"),
    }
}

/// What a command takes of each profile that it reads.
#[derive(Debug)]
pub struct ReadOptions {
    /// The kind of numbers.
    pub view: View,
    /// Whether call sites are added up.
    pub sites: SitesArguments,
    /// The classes that are kept; `None` for all.
    pub wanted: Option<ContextFilter>,
    /// The library that is collapsed.
    pub library: Option<Library>,
    /// Methods that the user asks for. Collapsing all that one of them matches is an error.
    pub asked_for: Vec<Pattern>,
}

impl ReadOptions {
    /// What the command line asks for.
    pub fn new(parts: &PartArguments, view: View) -> Result<ReadOptions> {
        let (wanted, library) = (parts.only.wanted()?, parts.library.library()?);
        Ok(ReadOptions { view, sites: parts.sites, wanted, library, asked_for: Vec::new() })
    }

    /// Everything, as in the file.
    pub fn everything() -> ReadOptions {
        ReadOptions {
            view: View::Both,
            sites: SitesArguments::default(),
            wanted: None,
            library: None,
            asked_for: Vec::new(),
        }
    }

    /// Fails later if these methods are collapsed.
    pub fn asking_for(self, methods: impl IntoIterator<Item = Pattern>) -> ReadOptions {
        ReadOptions { asked_for: methods.into_iter().collect(), ..self }
    }

    /// The part of a profile.
    pub fn of(&self, profile: Profile) -> Result<Profile> {
        self.seen(self.view.shown(self.sites.of(profile)?)?)
    }

    /// The part of a profile or a list of contexts.
    pub fn of_input(&self, input: Input) -> Result<Input> {
        let input = self.sites.of_input(input)?;
        let profile = self.view.shown(input.profile)?;
        let whole = self.wanted.is_some().then(|| WholeCounts::of(&profile));
        Ok(Input { profile: self.seen(profile)?, whole, ..input })
    }

    /// The kept classes, with the library collapsed.
    fn seen(&self, mut profile: Profile) -> Result<Profile> {
        if let Some(wanted) = &self.wanted {
            profile = wanted.of(profile)?;
        }
        match &self.library {
            Some(library) => {
                if let Some(message) = library.unmatched(&profile) {
                    exit::say(&format!("cctrewrite: {message}"));
                }
                if let Some(hidden) = self.asked_for.iter().find(|method| library.hides(method, &profile)) {
                    bail!(
                        "'{}' is in the library, which --{} collapses; leave that option out to see it",
                        hidden.given(),
                        library.setting()
                    );
                }
                library.collapsed(profile)
            }
            None => Ok(profile),
        }
    }
}

/// The message if profiles cannot be added up; the reason follows it.
pub const CANNOT: &str = "cannot add up these profiles";

/// Reads profiles, adds them up, and takes a part. A single profile is not changed otherwise. Also
/// returns the damage of all profiles.
pub fn read_sum(paths: &[PathBuf], reading: &ReadOptions) -> Result<(Profile, Vec<Damage>)> {
    if let [only] = paths {
        let profile = reading.of(read(only)?).with_context(|| shown(only))?;
        let damage = profile.damage.clone();
        return Ok((profile, damage));
    }
    let (sum, damage) = merge(paths, MergeOptions::default(), |profile| reading.sites.of(profile))?;
    Ok((reading.seen(reading.view.shown(sum)?)?, damage))
}

/// Reads profiles and adds up the part that `select` takes of each. Also returns the damage of all
/// profiles.
pub fn merge(
    paths: &[PathBuf],
    options: MergeOptions,
    select: impl Fn(Profile) -> Result<Profile>,
) -> Result<(Profile, Vec<Damage>)> {
    let mut merger = Merger::new(options);
    let mut damage = Vec::new();
    for path in paths {
        let profile = read(path)?;
        damage.extend(profile.damage.iter().cloned());
        merger.add(&name(path, paths), select(profile)?).context(CANNOT)?;
    }
    Ok((merger.finish().context(CANNOT)?, damage))
}

/// The name of a profile in a sum: its file name, with folders only if another profile has the same
/// file name.
fn name(path: &Path, all: &[PathBuf]) -> String {
    let is_the_only = all.iter().filter(|other| other.file_name() == path.file_name()).count() == 1;
    match path.file_name() {
        Some(file) if is_the_only && !is_stdin(path) => file.to_string_lossy().into_owned(),
        _ => shown(path),
    }
}

/// Reads a profile or a list of contexts, and reports what is missing on standard error.
pub fn read_input(path: &Path, reading: &ReadOptions) -> Result<Input> {
    let input = Input::read_from(open(path)?).with_context(|| shown(path))?;
    for what in &input.incomplete {
        exit::say(&format!("cctrewrite: {}: {what}", shown(path)));
    }
    reading.of_input(input).with_context(|| shown(path))
}

/// The name of an input in a comparison, with its kind.
pub fn named(path: &Path, input: &Input) -> String {
    let kind = match input.kind {
        Kind::Profile => "profile",
        Kind::List => "list of contexts",
    };
    format!("{} ({kind})", cct_build::text::readable(shown(path).as_bytes()))
}

/// Fails if more than one path means standard input.
pub fn check_stdin<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    if paths.into_iter().filter(|path| is_stdin(path)).count() > 1 {
        bail!("standard input can be given only once");
    }
    Ok(())
}
