//! Comparing two profiles, context by context.
//!
//! Contexts are the same when their paths are: methods are matched by class, name and descriptor, whatever their MIDs, so that two builds of
//! a program, or the same program on two machines, can be held against each other. Both trees are united and sorted by the same table of
//! frames; then one walk goes down both side by side. Time is n log n in the number of contexts, memory that of the trees themselves and
//! one more, whatever the difference.
//!
//! A context counts as being in a tree when it has a call or a bytecode there; one that only leads to others does not.
//!
//! The measures are those of the papers: the overlap percentage ([`Overlap`]) and the relative error ([`relative_error`]).

mod input;
mod largest;
mod measure;
mod pattern;
mod remarks;
mod selection;
mod tally;
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub use input::{Input, InputError, Kind};
pub use measure::{Agreement, Metric, Overlap, relative_error};
pub use pattern::Pattern;
pub use remarks::{Remark, Side};
pub use text::{TextOptions, write_text};

use crate::contexts::tree_of_threads;
use crate::merge::joined;
use crate::names::{Frame, FrameTable, NameStyle};
use crate::{MergeError, Method, ThreadTree, Tree};
use selection::Selection;
use tally::Trees;

/// What is compared, and how much is listed.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// Keep threads apart: they are matched by their names, and those of one name are added up. Otherwise all are added up.
    pub per_thread: bool,
    /// Only these threads.
    pub thread: Option<Pattern>,
    /// Only what is at and below this method: of every stack the part from its outermost frame that matches. Parts that become equal are
    /// added up.
    pub root: Option<Pattern>,
    /// Leave out methods that match, with all below them. Goes before `root`.
    pub ignore: Vec<Pattern>,
    /// Whether names that differ from run to run are made equal.
    pub names: NameStyle,
    /// Compare calls, not bytecodes.
    pub calls_only: bool,
    /// How many contexts are listed in each list.
    pub limit: usize,
}

impl Default for CompareOptions {
    fn default() -> CompareOptions {
        CompareOptions {
            per_thread: false,
            thread: None,
            root: None,
            ignore: Vec::new(),
            names: NameStyle::Raw,
            calls_only: false,
            limit: 10,
        }
    }
}

/// Why two inputs cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Nothing to compare the bytecodes of the other with.
    #[error("{0} counts calls only, the other counts bytecodes too; use --calls-only")]
    NoBytecodes(Side),
    /// What has bytecodes in one has none in the other.
    #[error(
        "A and B count intrinsics by different rules ({a} and {b}): methods that have bytecodes in one have none in the other; use --calls-only"
    )]
    Intrinsics {
        /// The choice of A (`META` key `intrinsics`).
        a: String,
        /// The choice of B.
        b: String,
    },
    /// Threads were added up when the list was made.
    #[error(
        "in {0}, a list of contexts, threads have been added up; make the list with --per-thread, or compare without --per-thread and --thread"
    )]
    NoThreads(Side),
    /// The thread that was asked for.
    #[error("neither side has a thread '{0}'")]
    NoSuchThread(String),
    /// The method that was asked for.
    #[error("no context of either side has the method '{0}'")]
    NoSuchRoot(String),
    /// Sums that do not fit.
    #[error("{0} cannot be added up: {1}")]
    Merge(Side, MergeError),
}

/// Counts of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// Executed bytecodes; 0 where they are not compared.
    pub bytecodes: u64,
}

/// A context in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its counts in A.
    pub a: Counts,
    /// Its counts in B.
    pub b: Counts,
    /// Its frames, outermost first, as positions in [`Comparison::frames`].
    pub path: Vec<u32>,
}

/// The name of a frame that occurs in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameName {
    /// As in a list of contexts.
    pub exact: String,
    /// For people: short, and of no other method.
    pub readable: String,
}

/// Contexts that are in one tree only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    /// How many.
    pub contexts: u64,
    /// Sum of their calls.
    pub calls: u64,
    /// Sum of their bytecodes.
    pub bytecodes: u64,
    /// Those with the largest counts (bytecodes, or calls where bytecodes are not compared), largest first.
    pub largest: Vec<Listed>,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What a reader of the numbers must know: what is missing, and in what the two differ besides their contexts.
    pub remarks: Vec<Remark>,
    /// Number of contexts of A.
    pub contexts_a: u64,
    /// Number of contexts of B.
    pub contexts_b: u64,
    /// Number of contexts that are in both.
    pub common: u64,
    /// Contexts that are in A only.
    pub only_a: Only,
    /// Contexts that are in B only.
    pub only_b: Only,
    /// How the calls compare.
    pub calls: Agreement<Listed>,
    /// How the bytecodes compare; `None` when they are not compared.
    pub bytecodes: Option<Agreement<Listed>>,
    /// The frames of all lists.
    pub frames: Vec<FrameName>,
}

impl Comparison {
    /// Whether both have the same contexts with the same counts.
    pub fn is_equal(&self) -> bool {
        let counts_differ = |agreement: &Agreement<Listed>| agreement.absolute > 0;
        self.only_a.contexts == 0
            && self.only_b.contexts == 0
            && !counts_differ(&self.calls)
            && !self.bytecodes.as_ref().is_some_and(counts_differ)
    }

    /// Whether part of an input is missing, so that nothing said here is certain.
    pub fn is_incomplete(&self) -> bool {
        self.remarks.iter().any(|remark| matches!(remark, Remark::Incomplete(..) | Remark::Marker { .. }))
    }

    /// The agreements of all metrics that are compared.
    pub fn agreements(&self) -> impl Iterator<Item = &Agreement<Listed>> {
        std::iter::once(&self.calls).chain(&self.bytecodes)
    }
}

/// Compares two inputs.
///
/// # Errors
/// When they count different things, an option asks for what neither has, or sums exceed 64 bits.
pub fn compare(a: Input, b: Input, options: &CompareOptions) -> Result<Comparison, CompareError> {
    let bytecodes = counts_bytecodes(&a, &b, options)?;
    for (side, input) in [(Side::A, &a), (Side::B, &b)] {
        if !input.per_thread && (options.per_thread || options.thread.is_some()) {
            return Err(CompareError::NoThreads(side));
        }
    }
    let mut remarks = remarks::of_headers(&a, &b);
    let drop_sites = [a.call_sites && !b.call_sites, b.call_sites && !a.call_sites];
    for (side, drop) in [Side::A, Side::B].into_iter().zip(drop_sites) {
        remarks.extend(drop.then_some(Remark::CallSitesMerged(side)));
    }

    let (methods_a, threads_a) = (a.profile.methods, threads_of(a.profile.threads, options));
    let (methods_b, threads_b) = (b.profile.methods, threads_of(b.profile.threads, options));
    remarks.extend(thread_remark(&threads_a, &threads_b, options)?);
    let names_a: Vec<_> = threads_a.iter().map(|thread| thread.name.clone()).collect();
    let names_b: Vec<_> = threads_b.iter().map(|thread| thread.name.clone()).collect();
    let mut frames = Vec::new();
    for (methods, names, drop_sites) in
        [(&methods_a, &names_a, drop_sites[0]), (&methods_b, &names_b, drop_sites[1])]
    {
        let of_method = methods.iter().map(|method| frame(method, options.names, drop_sites));
        frames.extend(of_method.chain(names.iter().map(|name| Frame::thread(name))));
    }
    let table = FrameTable::of(frames);
    let (labels_a, labels_b) = table.of_method().split_at(methods_a.len() + names_a.len());

    let (selection, vain) = Selection::new(&table, options);
    remarks.extend(vain.into_iter().map(|pattern| Remark::IgnoresNothing(pattern.given().to_owned())));
    let mut side_tree = |side, threads, labels: &[u32], methods: &[Method]| {
        let tree = united(threads, labels, methods.len(), options.per_thread);
        let selected = tree.and_then(|tree| {
            // Before the selection: what a marker stands for might have been selected.
            remarks.extend(remarks::of_markers(side, methods, labels, &tree));
            selection.of(tree)
        });
        selected.map_err(|error| CompareError::Merge(side, error))
    };
    let (tree_a, root_in_a) = side_tree(Side::A, threads_a, labels_a, &methods_a)?;
    let (tree_b, root_in_b) = side_tree(Side::B, threads_b, labels_b, &methods_b)?;
    if let Some(root) = &options.root {
        let given = || root.given().to_owned();
        match (root_in_a, root_in_b) {
            (false, false) => return Err(CompareError::NoSuchRoot(given())),
            (false, true) => remarks.push(Remark::RootMissing(Side::A, given())),
            (true, false) => remarks.push(Remark::RootMissing(Side::B, given())),
            (true, true) => {}
        }
    }

    let mut comparison = Trees { a: &tree_a, b: &tree_b, bytecodes }.compare(&table, options.limit)?;
    let generated = |methods: &[Method]| remarks::has_generated_names(methods);
    if options.names == NameStyle::Raw
        && comparison.only_a.contexts + comparison.only_b.contexts > 0
        && (generated(&methods_a) || generated(&methods_b))
    {
        remarks.push(Remark::GeneratedNames);
    }
    comparison.remarks = remarks;
    Ok(comparison)
}

/// Whether bytecodes are compared.
fn counts_bytecodes(a: &Input, b: &Input, options: &CompareOptions) -> Result<bool, CompareError> {
    let choice = |input: &Input| input.profile.meta.get("intrinsics").cloned();
    if let (Some(a), Some(b)) = (choice(a), choice(b))
        && a != b
        && !options.calls_only
    {
        return Err(CompareError::Intrinsics { a, b });
    }
    match (options.calls_only, a.profile.counts_bytecodes(), b.profile.counts_bytecodes()) {
        (true, _, _) | (_, false, false) => Ok(false),
        (_, true, true) => Ok(true),
        (_, false, true) => Err(CompareError::NoBytecodes(Side::A)),
        (_, true, false) => Err(CompareError::NoBytecodes(Side::B)),
    }
}

fn threads_of(mut threads: Vec<ThreadTree>, options: &CompareOptions) -> Vec<ThreadTree> {
    if let Some(pattern) = &options.thread {
        threads.retain(|thread| pattern.matches(&Frame::thread(&thread.name).bytes().collect::<Vec<u8>>()));
    }
    threads
}

/// A remark when only one side has the thread that was asked for.
fn thread_remark(
    a: &[ThreadTree],
    b: &[ThreadTree],
    options: &CompareOptions,
) -> Result<Option<Remark>, CompareError> {
    let Some(pattern) = &options.thread else { return Ok(None) };
    let given = pattern.given().to_owned();
    match (a.is_empty(), b.is_empty()) {
        (true, true) => Err(CompareError::NoSuchThread(given)),
        (true, false) => Ok(Some(Remark::ThreadMissing(Side::A, given))),
        (false, true) => Ok(Some(Remark::ThreadMissing(Side::B, given))),
        (false, false) => Ok(None),
    }
}

fn frame(method: &Method, names: NameStyle, drop_sites: bool) -> Frame<'_> {
    let frame = Frame::method(method, names);
    if drop_sites { frame.without_call_site() } else { frame }
}

/// The trees of all threads as one, labelled by frames. Labels are those of the methods, then of the threads.
fn united(
    threads: Vec<ThreadTree>,
    labels: &[u32],
    methods: usize,
    per_thread: bool,
) -> Result<Tree, MergeError> {
    let (of_method, of_thread) = labels.split_at(methods);
    let trees = threads.iter().map(|thread| &thread.tree);
    if per_thread {
        tree_of_threads(of_thread.iter().copied().zip(trees).collect(), of_method)
    } else {
        joined(&trees.map(|tree| (tree, of_method)).collect::<Vec<_>>())
    }
}
