//! A page for browsers: the profile in one self-contained HTML file, with a flame graph, the tree
//! and the methods.
//!
//! A page of a large profile has only its heaviest contexts (`html/cut.rs`). The tree contains the
//! sums of the pruned ones, so each context's inclusive count is exact. The table of methods,
//! summed up here over all contexts, is exact too. The data are columns of numbers
//! (`html/columns.rs`), compressed, as base64; the page's script (`page/`) decodes them.
//!
//! Names come from class files and may contain anything. So all names but the title are in the
//! compressed data, and the script makes text nodes of them, never markup. The page's policy also
//! lets the browser run this script alone, and fetch nothing.

mod assemble;
mod columns;
mod cut;
mod methods;
mod page_contents;
mod sided_tree;
#[cfg(test)]
mod tests;

use crate::difference::{DECISIVE, Side, with_same_sites};
use crate::{CREATOR, ExportError, Metric, Options};
use cct_profile::labels::By;
use cct_profile::names::NameStyle;
use cct_profile::origin::Origins;
use cct_profile::report::{counted, grouped, percent};
use cct_profile::{Damage, Method, Profile, Selection};
use columns::{Columns, KeptContexts, PrunedSums, number};
use cut::Weights;
use page_contents::PageContents;
use serde::Serialize;

pub use assemble::policy_hash;

/// Default maximum number of contexts of a page.
pub const MOST_CONTEXTS: usize = 1_000_000;

/// Limit below which a browser's numbers are exact.
const EXACT: u64 = 1 << 53;

/// The library that a page can collapse.
#[derive(Clone, Copy)]
pub struct PageLibrary<'l> {
    /// Whether a method is of the library.
    pub is_library: &'l dyn Fn(&Method) -> bool,
    /// The library in words.
    pub which: &'l str,
    /// Whether it is collapsed initially.
    pub is_collapsed: bool,
}

/// Options of a page.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// The part of the profiles that is shown.
    pub selection: Selection,
    /// The selection, in words.
    pub selected: Vec<String>,
    /// The kind of labels; not threads, which the page always keeps separate.
    pub by: By,
    /// Whether to normalise names that differ between runs.
    pub names: NameStyle,
    /// The initial metric.
    pub metric: Option<Metric>,
    /// Whether recursion is folded initially.
    pub fold_recursion: bool,
    /// Maximum number of contexts of the page.
    pub most_contexts: usize,
}

/// Facts about a profile besides its contexts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProfileFacts {
    /// The profile's name.
    pub name: String,
    /// Facts and missing parts, as `cctrewrite info` shows them: names and texts.
    pub facts: Vec<(String, String)>,
    /// Headings of the columns of its trees.
    pub head: Vec<String>,
    /// The profile's trees.
    pub trees: Vec<Vec<String>>,
}

/// A page.
#[derive(Debug)]
pub struct Page {
    head: Head,
    contexts: Columns,
    methods: Methods,
    /// How much was pruned, in a sentence; `None` if nothing was.
    pub pruning: Option<String>,
    /// Missing parts of the profiles.
    pub incomplete: Vec<String>,
    /// Reasons why the numbers of two profiles differ even where the programs do the same, in
    /// sentences.
    pub differing: Vec<String>,
    /// Patterns of [`Selection::drop`] that match no method.
    pub unmatched: Vec<String>,
}

/// The data for the script, except for the columns.
#[derive(Debug, Serialize)]
struct Head {
    /// Version of the data's format.
    version: u32,
    creator: &'static str,
    /// The program's name.
    program: String,
    /// The kind of labels.
    by: &'static str,
    labels: Vec<String>,
    /// For each label the label of its method, where call sites are distinguished.
    #[serde(skip_serializing_if = "Option::is_none")]
    methods: Option<Vec<u32>>,
    /// For each label its [`page_contents::Kind`].
    kinds: Vec<u8>,
    metrics: Vec<&'static str>,
    /// 1, or 2 for a difference. Measures are the metrics of the new profile, then those of the
    /// base.
    sides: usize,
    threads: Vec<Thread>,
    /// Number of contexts of the profile, or of both together.
    contexts: u64,
    /// The sum of each measure, as text: it may be too large for a number of the script.
    sums: Vec<String>,
    /// Sentences at the top of the page.
    remarks: Vec<String>,
    about: Vec<ProfileFacts>,
    metric: &'static str,
    fold: bool,
    /// Missing if the page cannot collapse the library.
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<LibraryHead>,
}

/// How the script collapses the library.
#[derive(Debug, Serialize)]
struct LibraryHead {
    /// The label of its lines.
    label: u32,
    /// For each label its [`Role`].
    roles: Vec<u8>,
    which: String,
    collapsed: bool,
}

/// The threads of one name.
#[derive(Debug, Serialize)]
struct Thread {
    name: String,
    /// Number of names, if these are the threads that share one entry for lack of room.
    others: Option<u64>,
    /// Number of contexts before pruning.
    contexts: u64,
    sums: Vec<u64>,
    /// Number of pruned contexts.
    lost: u64,
    lost_sums: Vec<u64>,
    /// Number of their contexts in the columns.
    nodes: u64,
    /// Number of their rows in the table of methods.
    rows: u64,
    /// The inclusive count of the library's lines, of each measure.
    library: Vec<u64>,
}

/// The table of methods, thread by thread, as columns.
#[derive(Clone, Debug, Default)]
struct Methods {
    /// Difference of the label to that of the row before, restarting with each thread.
    label: Vec<u8>,
    /// Number of contexts.
    contexts: Vec<u8>,
    /// For each measure, as in [`methods::Row`].
    own: Vec<Vec<u8>>,
    inclusive: Vec<Vec<u8>>,
}

impl Page {
    /// Creates the page of a profile, or of the changes since `base`. `about` describes both, the
    /// base last.
    ///
    /// # Errors
    /// Fails if counts overflow, if the metric was not counted, or if nothing is selected.
    pub fn new(
        new: Profile,
        base: Option<Profile>,
        about: Vec<ProfileFacts>,
        origins: &Origins,
        library: PageLibrary<'_>,
        options: &PageOptions,
    ) -> Result<Page, ExportError> {
        let program = new.meta.get("main").map_or("(unknown program)", |main| main).to_owned();
        let incomplete: Vec<String> = std::iter::once(&new).chain(&base).flat_map(damage).collect();
        let (mut new, mut base, differing, unmatched) = selected(new, base, options)?;
        let PageOptions { by, names, .. } = *options;
        let gathered = PageContents::of(&mut new, base.as_mut(), by, names, origins, library.is_library)?;
        let metric = match options.metric {
            // For profiles with a cost model, the cost of bytecodes.
            None | Some(Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_)) => {
                match (options.metric, gathered.metrics[0]) {
                    (Some(_), Metric::Calls) => return Err(ExportError::NoBytecodes),
                    (_, metric) => metric,
                }
            }
            Some(Metric::Allocations) if gathered.metrics[0] != Metric::Allocations => {
                return Err(ExportError::NoObjects);
            }
            Some(metric @ (Metric::Calls | Metric::Allocations)) => metric,
        };
        drop((new, base));
        Ok(Page::of(
            gathered,
            about,
            options,
            metric,
            PageNotes { program, incomplete, differing, unmatched },
            library,
        ))
    }

    fn of(
        gathered: PageContents,
        about: Vec<ProfileFacts>,
        options: &PageOptions,
        metric: Metric,
        said: PageNotes,
        library: PageLibrary<'_>,
    ) -> Page {
        let PageContents { labels, methods: of_label, kinds, measures, metrics, sums, threads, roles } =
            gathered;
        let (threads, trees): (Vec<_>, Vec<_>) =
            threads.into_iter().map(|t| ((t.name, t.others, t.sums), t.sided)).unzip();
        let with_sums: Vec<_> = measures.iter().copied().zip(sums.iter().copied()).collect();
        let is_difference = measures.len() > metrics.len();
        let change = |metric| {
            let nodes = trees.iter().flat_map(|sided| sided.contexts().map(move |node| (sided, node)));
            nodes.map(|(sided, node)| sided.change(node, metric)).sum::<u64>()
        };
        let changes: Vec<_> = metrics.iter().filter(|_| is_difference).map(|&m| (m, change(m))).collect();
        let kept = Weights::of(&trees, &with_sums, &changes).heaviest(&trees, options.most_contexts);

        let mut contexts = Columns::new(measures.len());
        let mut methods = Methods::new(measures.len());
        let label_of_lost = labels.len() as u32;
        let mut written = Vec::with_capacity(threads.len());
        for (((name, others, sums), sided), nodes) in threads.into_iter().zip(&trees).zip(&kept) {
            let (nodes, lost) =
                contexts.add(sided, &KeptContexts { nodes, label_of_lost, roles: &roles }, &measures);
            let PrunedSums { contexts: lost, sums: lost_sums, .. } = lost;
            let library = methods::library_lines(sided, &roles, &measures);
            let rows = methods.add(&methods::rows(sided, &of_label, &measures));
            let (name, contexts) =
                (cct_profile::escape::terminal(&name), u64::from(sided.contexts().end) - 1);
            written.push(Thread { name, others, contexts, sums, lost, lost_sums, nodes, rows, library });
        }
        let all_contexts = written.iter().map(|thread| thread.contexts).sum();
        let PageNotes { program, incomplete, differing, unmatched } = said;
        let pruning = pruning(&written, all_contexts, &with_sums, options.most_contexts);
        let mut remarks: Vec<String> = incomplete.iter().map(|what| format!("INCOMPLETE: {what}")).collect();
        remarks.extend(differing.iter().cloned());
        if !options.selected.is_empty() {
            remarks.push(format!(
                "This page shows only a part of the profile: {}.",
                options.selected.join(", ")
            ));
        }
        if sums.iter().any(|&sum| sum > EXACT) {
            remarks.push("Numbers above 2^53 are rounded: browsers have no larger whole numbers.".to_owned());
        }
        let has_sites = (0..).zip(&of_label).any(|(label, &method): (u32, _)| label != method);
        let head = Head {
            version: 1,
            creator: CREATOR,
            program: cct_profile::escape::terminal(&program),
            by: options.by.name(),
            methods: has_sites.then_some(of_label),
            labels,
            kinds: kinds.into_iter().map(|kind| kind as u8).collect(),
            metrics: metrics.iter().map(|metric| metric.name()).collect(),
            sides: measures.len() / metrics.len(),
            threads: written,
            contexts: all_contexts,
            sums: sums.into_iter().map(|sum| grouped(sum.into())).collect(),
            remarks,
            about,
            metric: metric.name(),
            fold: options.fold_recursion,
            library: label_of_lost.checked_sub(1).filter(|_| !roles.is_empty()).map(|label| LibraryHead {
                label,
                roles: roles.iter().map(|role| *role as u8).collect(),
                which: cct_profile::escape::terminal(library.which),
                collapsed: library.is_collapsed,
            }),
        };
        Page { head, contexts, methods, pruning, incomplete, differing, unmatched }
    }
}

/// Sentences that a page passes on.
struct PageNotes {
    program: String,
    incomplete: Vec<String>,
    differing: Vec<String>,
    unmatched: Vec<String>,
}

fn damage(profile: &Profile) -> impl Iterator<Item = String> + '_ {
    profile.damage.iter().map(Damage::to_string)
}

/// The selected part of both; reasons why they differ in any case, in sentences; patterns that
/// match nothing.
type SelectedPair = (Profile, Option<Profile>, Vec<String>, Vec<String>);

fn selected(new: Profile, base: Option<Profile>, options: &PageOptions) -> Result<SelectedPair, ExportError> {
    let Some(base) = base else {
        let selected = options.selection.of_profile(new.with_native_callers(), options.names)?;
        return Ok((selected.profile, None, Vec::new(), selected.unmatched));
    };
    let asked = Options { selection: options.selection.clone(), style: options.names, ..Options::default() };
    let (base, new, sites_lost) = with_same_sites(base, new)?;
    let (base, new) = (Side::of(base, &asked)?, Side::of(new, &asked)?);
    if let (Some(error), Some(_)) = (&base.nothing, &new.nothing) {
        return Err(error.clone().into());
    }
    let unmatched = base.unmatched.into_iter().filter(|pattern| new.unmatched.contains(pattern)).collect();
    let mut differing = Vec::new();
    for (side, nothing) in [("BASE", base.nothing), ("NEW", new.nothing)] {
        differing.extend(nothing.map(|error| format!("In {side}, {error}.")));
    }
    differing.extend(sites_lost.map(|side| {
        let side = if side == 0 { "BASE" } else { "NEW" };
        format!("Only {side} distinguishes call sites, so they are added up.")
    }));
    let (base, new) = (base.profile, new.profile);
    for key in DECISIVE {
        match (base.meta.get(key), new.meta.get(key)) {
            (Some(a), Some(b)) if a != b => differing.push(format!(
                "The profiles were recorded with different '{key}' ({a} in BASE, {b} in NEW), so \
                 their numbers are not comparable."
            )),
            _ => {}
        }
    }
    if base.counts_bytecodes() != new.counts_bytecodes() {
        let side = if base.counts_bytecodes() { "NEW" } else { "BASE" };
        differing.push(format!("Bytecodes were not counted in {side}: only calls are compared."));
    } else if Metric::of_profile(&base) != Metric::of_profile(&new)
        || base.meta.get("cost-model") != new.meta.get("cost-model")
    {
        let named = |profile: &Profile| match profile.meta.get("cost-model") {
            Some(model) => cct_profile::escape::terminal(model),
            None => Metric::of_profile(profile).name().to_owned(),
        };
        differing.push(format!(
            "The profiles count by different cost models ({} in BASE, {} in NEW): only calls are compared.",
            named(&base),
            named(&new)
        ));
    }
    Ok((new, Some(base), differing, unmatched))
}

/// How much was pruned, in a sentence.
fn pruning(
    threads: &[Thread],
    contexts: u64,
    sums: &[(sided_tree::Measure, u64)],
    most: usize,
) -> Option<String> {
    let lost: u64 = threads.iter().map(|thread| thread.lost).sum();
    let part = |part: u64, whole: u64, word: &str| {
        format!("{} ({:.2} %)", counted(part.into(), word), percent(part.into(), whole.into()))
    };
    let of = |(at, &(measure, sum)): (usize, &(sided_tree::Measure, u64))| {
        let lost = threads.iter().map(|thread| thread.lost_sums[at]).sum();
        let word = measure.metric.one();
        (measure.side == sided_tree::Side::New).then(|| part(lost, sum, word))
    };
    (lost > 0).then(|| {
        let counts: Vec<String> = sums.iter().enumerate().filter_map(of).collect();
        let whose = if counts.len() < sums.len() { " in NEW" } else { "" };
        format!(
            "{} with {} of their own{whose} are pruned: the page has the {} heaviest \
             (--max-contexts), and adds up the others at their callers",
            part(lost, contexts, "context"),
            counts.join(" and "),
            grouped(most as u128)
        )
    })
}

impl Methods {
    fn new(measures: usize) -> Methods {
        let none = vec![Vec::new(); measures];
        Methods { own: none.clone(), inclusive: none, ..Methods::default() }
    }

    /// Adds the rows of a thread; returns how many these are.
    fn add(&mut self, rows: &[methods::Row]) -> u64 {
        let mut before = 0;
        for row in rows {
            number(&mut self.label, u64::from(row.label - before));
            before = row.label;
            number(&mut self.contexts, row.contexts);
            self.own.iter_mut().zip(&row.own).for_each(|(column, &value)| number(column, value));
            self.inclusive.iter_mut().zip(&row.inclusive).for_each(|(column, &value)| number(column, value));
        }
        rows.len() as u64
    }
}
