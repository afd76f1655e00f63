//! Two inputs in parallel: the common part of [`crate::compare`] and [`crate::diff`].
//!
//! Methods are matched by class, name and descriptor, whatever their MIDs. So two builds of a
//! program, or the same program on two machines, can be compared. The trees of each side are united
//! into one, unselected contexts are removed, and both get their labels from one table of frames. A
//! walk then visits both ([`crate::walk`]).

mod error;
mod input;
mod mismatch;
mod remarks;
mod share;

pub use error::{PairError, Remedy};
pub use input::{Input, InputError, Kind, WholeCounts};
pub use mismatch::Mismatch;
pub use remarks::{Remark, SIDES, Side};
pub use share::Share;

use crate::contexts::tree_of_threads;
use crate::meta_keys::COST_MODEL;
use crate::names::{Frame, FrameTable, NameStyle};
use crate::selection::{MatchState, Selector, similar};
use crate::tree_sum::joined;
use crate::{MergeError, Method, Metric, Pattern, Selection, ThreadTree, Tree};

/// Options that apply to both inputs.
#[derive(Clone, Debug, Default)]
pub struct PairOptions {
    /// Keep threads separate: they are matched by their names, and those of one name are added up.
    /// Otherwise all are added up.
    pub per_thread: bool,
    /// The part of both that is compared.
    pub selection: Selection,
    /// Whether to normalise names that differ between runs.
    pub names: NameStyle,
    /// Compare calls, not bytecodes.
    pub calls_only: bool,
}

/// Options for showing two inputs to people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextOptions {
    /// The names of the two, for instance their files.
    pub names: [String; 2],
    /// What was compared, in words: the options.
    pub compared: String,
    /// Cut lines to this many terminal columns.
    pub width: Option<usize>,
}

/// Two trees whose labels are the frames of one table. Siblings have different labels and are
/// sorted by them.
pub(crate) struct Pair<'p> {
    pub(crate) a: &'p Tree,
    pub(crate) b: &'p Tree,
    /// The methods of A, and those of B.
    pub(crate) methods: [&'p [Method]; 2],
    /// The labels of these methods.
    pub(crate) labels: [&'p [u32]; 2],
    /// The frames of these methods, and of threads where they are separate.
    pub(crate) frames: &'p FrameTable<'p>,
    /// The second metric besides calls: bytecodes, or their cost.
    pub(crate) executed: Option<Metric>,
    /// The main count: what is executed, else objects or calls.
    pub(crate) metric: Metric,
    /// The parts of A and B that the selection keeps; `None` if it is everything.
    pub(crate) shares: Option<[Share; 2]>,
    /// Differences of the recordings that make counts differ.
    pub(crate) mismatches: Vec<Mismatch>,
    /// The change of the total, in percent, that unchanged programs may show.
    pub(crate) noise_percent: u8,
    /// Whether classes have names with numbers that may differ between runs.
    pub(crate) has_generated_names: bool,
    /// Remarks for the reader.
    pub(crate) remarks: &'p mut Vec<Remark>,
}

/// Unites two inputs, and calls a function with the result.
///
/// # Errors
/// Fails if they count different things, if the selection requests something that neither has, or
/// if sums exceed 64 bits.
pub(crate) fn united<T>(
    a: Input,
    b: Input,
    options: &PairOptions,
    look: impl FnOnce(&mut Pair<'_>) -> Result<T, PairError>,
) -> Result<T, PairError> {
    if a.profile.is_of_objects() != b.profile.is_of_objects() {
        return Err(PairError::Objects(if a.profile.is_of_objects() { Side::B } else { Side::A }));
    }
    let objects = a.profile.is_of_objects();
    let executed = executed(&a, &b, options)?;
    for (side, input) in [(Side::A, &a), (Side::B, &b)] {
        if !input.per_thread && (options.per_thread || options.selection.thread.is_some()) {
            return Err(PairError::NoThreads(side));
        }
    }
    let mismatches = mismatch::mismatches(&a, &b, options.calls_only);
    let noise_percent = mismatch::noise_percent(&a, &b);
    let mut remarks = remarks::of_headers(&a, &b);
    let drop_sites = [a.call_sites && !b.call_sites, b.call_sites && !a.call_sites];
    for (side, drop) in [Side::A, Side::B].into_iter().zip(drop_sites) {
        remarks.extend(drop.then_some(Remark::CallSitesMerged(side)));
    }

    let selection = &options.selection;
    let metric = executed.unwrap_or(if objects { Metric::Allocations } else { Metric::Calls });
    let wholes =
        [&a, &b].map(|input| input.whole.unwrap_or_else(|| WholeCounts::of(&input.profile)).count(metric));
    let lacks_classes = a.whole.is_some() || b.whole.is_some();
    let (methods_a, threads_a) = (a.profile.methods, threads_of(a.profile.threads, selection));
    let (methods_b, threads_b) = (b.profile.methods, threads_of(b.profile.threads, selection));
    remarks.extend(thread_remark(&threads_a, &threads_b, selection)?);
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

    let selector = Selector::new(&table, selection, options.per_thread);
    let given = |at: &usize| selection.drop[*at].given().to_owned();
    remarks.extend(selector.unmatched.iter().map(|at| Remark::IgnoresNothing(given(at))));
    let identity: Vec<u32> = (0..table.frames().len() as u32).collect();
    let mut side_tree = |side, threads, labels: &[u32], methods: &[Method]| {
        let tree = tree_of(threads, labels, methods.len(), options.per_thread);
        let selected = tree.and_then(|tree| {
            // Before the selection: it might have selected the contexts behind a marker.
            remarks.extend(remarks::of_markers(side, methods, labels, &tree));
            if selector.is_everything() {
                return Ok((tree, MatchState::ALL));
            }
            let (selected, met) = selector.of(&tree, &identity)?;
            drop(tree);
            // Occurrences of the root on different stacks have become siblings.
            Ok((joined(&[(&selected, &identity)])?, met))
        });
        selected.map_err(|error| PairError::Merge(side, error))
    };
    let (tree_a, met_a) = side_tree(Side::A, threads_a, labels_a, &methods_a)?;
    let (tree_b, met_b) = side_tree(Side::B, threads_b, labels_b, &methods_b)?;
    let focus: Vec<&str> = selection.focus.iter().map(Pattern::given).collect();
    let asked = [
        (
            selection.root.as_ref(),
            selection.root.as_ref().map_or("", Pattern::given).to_owned(),
            met_a.root,
            met_b.root,
        ),
        (selection.focus.first(), focus.join("', '"), met_a.focus, met_b.focus),
    ];
    for (pattern, given, in_a, in_b) in asked {
        let Some(pattern) = pattern else { continue };
        match (in_a, in_b) {
            (false, false) => {
                let similar = similar(&table, pattern);
                return Err(PairError::NoSuchMethod { given, similar });
            }
            (false, true) => remarks.push(Remark::MethodMissing(Side::A, given)),
            (true, false) => remarks.push(Remark::MethodMissing(Side::B, given)),
            (true, true) => {}
        }
    }
    if let Some(id) = selection.context {
        match (met_a.context, met_b.context) {
            (false, false) => return Err(PairError::NoSuchContext(id)),
            (false, true) => remarks.push(Remark::ContextMissing(Side::A, id)),
            (true, false) => remarks.push(Remark::ContextMissing(Side::B, id)),
            (true, true) => {}
        }
    }
    let shares = [(&tree_a, wholes[0]), (&tree_b, wholes[1])]
        .map(|(tree, whole)| Share { part: sum(tree, metric), whole });
    let shares = (lacks_classes || !selection.is_everything()).then_some(shares);
    if let Some(shares) = shares {
        remarks.push(Remark::Selected { shares, metric: metric.name() });
    }
    let generated = |methods: &[Method]| remarks::has_generated_names(methods);
    let has_generated_names = generated(&methods_a) || generated(&methods_b);
    look(&mut Pair {
        a: &tree_a,
        b: &tree_b,
        methods: [&methods_a, &methods_b],
        labels: [&labels_a[..methods_a.len()], &labels_b[..methods_b.len()]],
        frames: &table,
        executed,
        has_generated_names,
        metric,
        shares,
        mismatches,
        noise_percent,
        remarks: &mut remarks,
    })
}

/// Sum over all contexts of a tree.
fn sum(tree: &Tree, metric: Metric) -> u128 {
    tree.nodes().iter().skip(1).map(|node| u128::from(metric.of_node(node))).sum()
}

/// The second metric besides calls.
fn executed(a: &Input, b: &Input, options: &PairOptions) -> Result<Option<Metric>, PairError> {
    let choice = |input: &Input| input.profile.meta.get("intrinsics").cloned();
    if let (Some(a), Some(b)) = (choice(a), choice(b))
        && a != b
        && !options.calls_only
    {
        return Err(PairError::Intrinsics { a, b });
    }
    let model = |input: &Input| input.profile.meta.get(COST_MODEL).cloned();
    let of = |input: &Input| Metric::of_profile(&input.profile);
    let both = a.profile.counts_bytecodes() && b.profile.counts_bytecodes();
    if !options.calls_only && both && (model(a), of(a)) != (model(b), of(b)) {
        let named = |input| model(input).unwrap_or_else(|| of(input).name().to_owned());
        return Err(PairError::CostModels { a: named(a), b: named(b) });
    }
    match (options.calls_only, a.profile.counts_bytecodes(), b.profile.counts_bytecodes()) {
        (true, _, _) | (_, false, false) => Ok(None),
        (_, true, true) => Ok(Some(of(a))),
        (_, false, true) => Err(PairError::NoBytecodes(Side::A)),
        (_, true, false) => Err(PairError::NoBytecodes(Side::B)),
    }
}

fn threads_of(mut threads: Vec<ThreadTree>, selection: &Selection) -> Vec<ThreadTree> {
    if let Some(pattern) = &selection.thread {
        threads.retain(|thread| pattern.matches_thread(&thread.name));
    }
    threads
}

/// A remark if only one side has the selected thread.
fn thread_remark(
    a: &[ThreadTree],
    b: &[ThreadTree],
    selection: &Selection,
) -> Result<Option<Remark>, PairError> {
    let Some(given) = selection.thread.as_ref().map(Pattern::given) else { return Ok(None) };
    match (a.is_empty(), b.is_empty()) {
        (true, true) => Err(PairError::NoSuchThread(given.to_owned())),
        (true, false) => Ok(Some(Remark::ThreadMissing(Side::A, given.to_owned()))),
        (false, true) => Ok(Some(Remark::ThreadMissing(Side::B, given.to_owned()))),
        (false, false) => Ok(None),
    }
}

fn frame(method: &Method, names: NameStyle, drop_sites: bool) -> Frame<'_> {
    // Lines are not part of a context: lists do not have them.
    let frame = Frame::method(method, names).without_line();
    if drop_sites { frame.without_call_site() } else { frame }
}

/// The sum of the trees of all threads, labelled by frames. Labels are those of the methods, then
/// of the threads.
fn tree_of(
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
