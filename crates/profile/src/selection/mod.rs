//! Selections of contexts: which to ignore, which stacks to focus on, and the method that becomes
//! the root.
//!
//! A selection consists of patterns ([`Pattern`]) and applies to reports, differences and
//! comparisons alike. Contexts that it keeps keep their counts; a context that only leads to them
//! has no counts of its own afterwards. So a selection and its complement add up to the whole.

use std::sync::Arc;

use crate::names::{Frame, FrameTable, NameStyle};
use crate::suggestions::Suggestions;
use crate::{ContextId, FrameId, MergeError, Pattern, Profile, Tree, TreeBuilder};

#[cfg(test)]
mod tests;

/// The selected contexts. By default, everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these threads.
    pub thread: Option<Pattern>,
    /// Only contexts at and below this method: of every stack the part from its outermost frame
    /// that matches. The caller adds up parts that become equal when it unites the trees.
    pub root: Option<Pattern>,
    /// Only contexts with one of these methods in their stack: the method, its callees, and,
    /// without their counts, the callers that lead to it. Applied after [`Selection::root`].
    pub focus: Vec<Pattern>,
    /// Only the contexts with this id, their callees, and, without their counts, their callers. The
    /// path begins at the root, if there is one. Applied after [`Selection::root`], and together
    /// with [`Selection::focus`].
    pub context: Option<ContextId>,
    /// Ignore methods that match, with everything below them. Applied before the others.
    pub drop: Vec<Pattern>,
}

impl Selection {
    /// Whether the selection keeps everything.
    pub fn is_everything(&self) -> bool {
        self == &Selection::default()
    }

    /// The selected part of a profile, each tree separately. Equal parts that have become siblings
    /// stay siblings; trees without selected contexts are removed.
    ///
    /// # Errors
    /// Fails if nothing in the profile matches the thread, the root, the focus or the context's id.
    pub fn of_profile(
        &self,
        mut profile: Profile,
        names: NameStyle,
    ) -> Result<SelectionResult, SelectionError> {
        if let Some(pattern) = &self.thread {
            let names_of_threads: Vec<Arc<str>> =
                profile.threads.iter().map(|thread| Arc::clone(&thread.name)).collect();
            profile.threads.retain(|thread| pattern.matches_thread(&thread.name));
            if profile.threads.is_empty() {
                let names: Vec<&str> = names_of_threads.iter().map(|name| &**name).collect();
                let similar = Suggestions::of(pattern.given(), names);
                return Err(SelectionError::Thread { given: pattern.given().to_owned(), similar });
            }
        }
        let table = FrameTable::new(&profile.methods, names);
        let selector = Selector::new(&table, self, false);
        let mut met = MatchState::default();
        for thread in &mut profile.threads {
            let (tree, met_here) = selector.of(&thread.tree, table.of_method())?;
            met.add(met_here);
            thread.tree = tree;
        }
        if let Some(root) = self.root.as_ref().filter(|_| !met.root) {
            let similar = similar(&table, root);
            return Err(SelectionError::Root { given: root.given().to_owned(), similar });
        }
        if !self.focus.is_empty() && !met.focus {
            let given: Vec<&str> = self.focus.iter().map(Pattern::given).collect();
            let similar = self.focus.first().map(|focus| similar(&table, focus)).unwrap_or_default();
            return Err(SelectionError::Focus { given: given.join("', '"), similar });
        }
        if let Some(id) = self.context.filter(|_| !met.context) {
            return Err(SelectionError::Context(id));
        }
        if !self.is_everything() {
            profile.threads.retain(|thread| thread.tree.contexts() > 0);
        }
        let unmatched = selector.unmatched.iter().map(|&at| self.drop[at].given().to_owned()).collect();
        Ok(SelectionResult { profile, unmatched })
    }
}

/// The result of a selection.
#[derive(Clone, Debug)]
pub struct SelectionResult {
    /// The selected contexts.
    pub profile: Profile,
    /// The patterns of [`Selection::drop`] that match no method.
    pub unmatched: Vec<String>,
}

/// The reason why nothing is selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// No thread matches.
    #[error("there is no thread '{given}'{similar}")]
    Thread {
        /// The pattern.
        given: String,
        /// Threads with similar names.
        similar: Suggestions,
    },
    /// No method matches the root.
    #[error("no context has the method '{given}'{similar}")]
    Root {
        /// The pattern.
        given: String,
        /// Methods with similar names.
        similar: Suggestions,
    },
    /// No method matches the focus.
    #[error("no context has a method '{given}'{similar}")]
    Focus {
        /// The patterns.
        given: String,
        /// Methods with names similar to the first pattern.
        similar: Suggestions,
    },
    /// No context has the id.
    #[error(
        "no context has the id {0}; `report --ids` shows ids, which depend on --root, --raw-names and --collapse-library"
    )]
    Context(ContextId),
    /// A tree that does not belong to its methods, or is too large.
    #[error(transparent)]
    Tree(#[from] MergeError),
}

/// Methods of a table whose names are similar to a pattern.
pub(crate) fn similar(table: &FrameTable<'_>, pattern: &Pattern) -> Suggestions {
    let methods = || table.frames().iter().filter(|frame| !frame.is_type());
    // The method is there, and only its contexts are not.
    if methods().any(|frame| pattern.matches(&frame.bytes().collect::<Vec<u8>>())) {
        return Suggestions::default();
    }
    let names: Vec<String> = methods().map(Frame::exact).collect();
    Suggestions::of(pattern.given(), names.iter().map(String::as_str))
}

/// Whether the walk met the root, the methods in focus, and the context.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MatchState {
    pub(crate) root: bool,
    pub(crate) focus: bool,
    pub(crate) context: bool,
}

impl MatchState {
    /// Nothing was asked for.
    pub(crate) const ALL: MatchState = MatchState { root: true, focus: true, context: true };

    fn add(&mut self, other: MatchState) {
        self.root |= other.root;
        self.focus |= other.focus;
        self.context |= other.context;
    }
}

/// A selection, evaluated for every frame of a table. It does not handle threads.
#[derive(Debug)]
pub(crate) struct Selector {
    /// Whether the frame is a root; `None` without such a choice.
    root: Option<Vec<bool>>,
    focus: Option<Vec<bool>>,
    /// The id of the context, and the ids of frames; `None` without such a choice.
    context: Option<(ContextId, Vec<FrameId>)>,
    ignored: Vec<bool>,
    /// Whether the outermost frames are threads, which stay with any root.
    per_thread: bool,
    /// Indices of the patterns of [`Selection::drop`] that match no frame.
    pub(crate) unmatched: Vec<usize>,
}

/// An open context on the path from the root to the current node.
struct Open {
    label: u32,
    end: u32,
    entered: bool,
    /// [`ContextId::ROOT`] if no context is asked for by its id, and for threads.
    id: ContextId,
}

impl Selector {
    pub(crate) fn new(table: &FrameTable<'_>, selection: &Selection, per_thread: bool) -> Selector {
        let mut ignored = vec![false; table.frames().len()];
        let mut unmatched = Vec::new();
        for (at, pattern) in selection.drop.iter().enumerate() {
            if !mark(table, pattern, &mut ignored) {
                unmatched.push(at);
            }
        }
        let any = |patterns: &mut dyn Iterator<Item = &Pattern>| {
            let mut marked: Option<Vec<bool>> = None;
            for pattern in patterns {
                mark(table, pattern, marked.get_or_insert_with(|| vec![false; table.frames().len()]));
            }
            marked
        };
        let root = any(&mut selection.root.iter());
        let focus = any(&mut selection.focus.iter());
        let context = selection.context.map(|id| (id, FrameId::of_table(table)));
        Selector { root, focus, context, ignored, per_thread, unmatched }
    }

    /// Whether trees stay unchanged.
    pub(crate) fn is_everything(&self) -> bool {
        self.root.is_none() && self.focus.is_none() && self.context.is_none() && !self.ignored.contains(&true)
    }

    /// The selected part of a tree, given the frame of each of its methods, and which choices were
    /// met.
    pub(crate) fn of(&self, tree: &Tree, frames: &[u32]) -> Result<(Tree, MatchState), MergeError> {
        let nodes = tree.nodes();
        let mut builder = TreeBuilder::new().with_columns(tree.columns());
        let mut open: Vec<Open> = Vec::new();
        // Ends of the innermost subtrees of the root and of the method in focus.
        let mut below_root = if self.root.is_none() { u32::MAX } else { 0 };
        let mut below_focus = if self.focus.is_none() { u32::MAX } else { 0 };
        let mut below_context = if self.context.is_none() { u32::MAX } else { 0 };
        let mut met = MatchState {
            root: self.root.is_none(),
            focus: self.focus.is_none(),
            context: self.context.is_none(),
        };
        let mut thread_end = 1;
        let mut index = 1;
        while (index as usize) < nodes.len() {
            while let Some(closed) = open.pop_if(|open| open.end <= index) {
                if closed.entered {
                    builder.leave();
                }
            }
            let (node, end) = (&nodes[index as usize], tree.subtree(index).end);
            let frame = frames.get(node.method as usize).copied();
            let frame = frame.ok_or(MergeError::NoSuchMethod { method: node.method, count: frames.len() })?;
            let frame = frame as usize;
            let is_thread = self.per_thread && index >= thread_end;
            if is_thread {
                thread_end = end;
            }
            if self.ignored[frame] && !is_thread {
                index = end;
                continue;
            }
            if !is_thread && index >= below_root && self.root.as_ref().is_some_and(|root| root[frame]) {
                below_root = end;
                met.root = true;
            }
            let is_below_root = is_thread || index < below_root;
            let id = match &self.context {
                Some((wanted, frames)) if is_below_root && !is_thread => {
                    let caller = open.last().map_or(ContextId::ROOT, |caller| caller.id);
                    let id = caller.callee(frames[frame]);
                    if id == *wanted {
                        below_context = end;
                        met.context = true;
                    }
                    id
                }
                _ => ContextId::ROOT,
            };
            let focused = || self.focus.as_ref().is_some_and(|focus| focus[frame]);
            if !is_thread && is_below_root && index >= below_focus && focused() {
                below_focus = end;
                met.focus = true;
            }
            if is_below_root {
                let entered = is_thread || index < below_focus.min(below_context);
                if entered {
                    // The callers of an entered context are entered, too.
                    let first = open.partition_point(|caller| caller.entered);
                    for caller in &mut open[first..] {
                        builder.enter(caller.label, 0, 0)?;
                        caller.entered = true;
                    }
                    builder.enter(node.method, node.calls, node.bytecodes)?;
                    builder.numbers().copy_from_slice(tree.values(index));
                }
                open.push(Open { label: node.method, end, entered, id });
            }
            index += 1;
        }
        Ok((builder.finish(), met))
    }
}

/// Marks the frames of the table that a pattern matches; returns whether there are any.
fn mark(table: &FrameTable<'_>, pattern: &Pattern, marked: &mut [bool]) -> bool {
    let mut any = false;
    let mut text = Vec::new();
    for (marked, frame) in marked.iter_mut().zip(table.frames()) {
        text.clear();
        text.extend(frame.without_call_site().bytes());
        let mut matches = pattern.matches(&text);
        if !matches && frame.site().is_some() && pattern.names_call_sites() {
            text.clear();
            text.extend(Frame::bytes(frame));
            matches = pattern.matches(&text);
        }
        // As reports write it: `java.util.Map.get(Object)`.
        if !matches && pattern.names_parameters() {
            matches = pattern.matches(frame.without_call_site().readable().as_bytes());
        }
        if matches {
            *marked = true;
            any = true;
        }
    }
    any
}
