//! The list of all contexts, for programs that compare profiles.
//!
//! After comment lines, which start with `#`, there is one line per context:
//! `calls bytecodes frame;frame;frame`. The outermost frame is first (see [`crate::names::Frame`]
//! for its text); counts are those of that very context. Lines are sorted by the bytes of the path,
//! as `LC_ALL=C sort` would. Contexts without counts, which only lead to others, have no line.
//! Where call sites are distinguished, a frame ends with `@` and the bytecode index in its caller,
//! `@-1` below native code; outermost frames have none.
//!
//! [`read_contexts`] reads such a list, and lists of other tools that have the same three columns.

use crate::meta_keys::COLUMNS;
use crate::names::{Frame, FrameTable, NameStyle};
use crate::tree_sum::join;
use crate::{MergeError, Profile, ReportError, Tree, TreeBuilder};
use std::io::{self, BufWriter, Write};

mod read;
#[cfg(test)]
mod tests;

pub use read::{ContextList, LineProblem, ListError, read_contexts};

/// Start of a list of contexts; its version follows.
const FIRST_LINE: &str = "# cctrewrite contexts ";

/// Options of [`write_contexts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextsOptions {
    /// Start every path with the thread's name, `[main]`. Otherwise threads are added up.
    pub per_thread: bool,
    /// Whether to normalise names that differ between runs.
    pub names: NameStyle,
}

/// Writes the list of all contexts. Takes memory for one more tree; paths are written as the walk
/// meets them.
///
/// # Errors
/// Fails if the output fails, or if counts overflow when equal contexts are added up.
pub fn write_contexts(
    profile: &Profile,
    options: ContextsOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let separate;
    let profile = if profile.lacks_native_callers() {
        separate = profile.clone().with_native_callers();
        &separate
    } else {
        profile
    };
    let methods = profile.methods.iter().map(|method| Frame::method(method, options.names).without_line());
    let threads = profile.threads.iter().map(|thread| Frame::thread(&thread.name));
    let threads = threads.filter(|_| options.per_thread);
    let table = FrameTable::of(methods.chain(threads).collect());
    let (of_method, of_thread) = table.of_method().split_at(profile.methods.len());
    let trees = profile.threads.iter().map(|thread| &thread.tree);
    let tree = if options.per_thread {
        tree_of_threads(of_thread.iter().copied().zip(trees).collect(), of_method)?
    } else {
        let trees: Vec<_> = trees.map(|tree| (tree, of_method)).collect();
        crate::tree_sum::joined(&trees)?
    };
    let mut out = BufWriter::with_capacity(1 << 18, out);
    write_head(profile, &tree, &mut out)?;
    Lines { profile, table: &table, tree: &tree, places: &Places::of(&table) }.write(&mut out)?;
    out.flush()?;
    Ok(())
}

/// One tree in which each thread, or all threads of one name, is a child of the root. `threads` has
/// trees with the frames of their threads.
pub(crate) fn tree_of_threads(mut threads: Vec<(u32, &Tree)>, of_method: &[u32]) -> Result<Tree, MergeError> {
    threads.sort_by_key(|&(frame, _)| frame);
    let mut builder = TreeBuilder::new();
    for same in threads.chunk_by(|a, b| a.0 == b.0) {
        let trees: Vec<_> = same.iter().map(|&(_, tree)| (tree, of_method)).collect();
        builder.enter(same[0].0, 0, 0)?;
        // `join` leaves the thread's node, since it works below it.
        join(&trees, &mut builder)?;
    }
    Ok(builder.finish())
}

fn write_head(profile: &Profile, tree: &Tree, out: &mut dyn Write) -> io::Result<()> {
    let contexts = || tree.nodes().iter().skip(1).filter(|node| !node.is_empty());
    let calls: u128 = contexts().map(|node| u128::from(node.calls)).sum();
    let bytecodes: u128 = contexts().map(|node| u128::from(node.bytecodes)).sum();
    writeln!(out, "{FIRST_LINE}1  format: calls bytecodes frame;frame;...")?;
    write!(out, "# ")?;
    if profile.counts_bytecodes() {
        write!(out, "bytecodes={bytecodes} ")?;
    }
    writeln!(out, "calls={calls} contexts={}", contexts().count())?;
    let line = |text: &str| text.replace(['\n', '\r'], " ");
    // A list has no columns.
    for (key, value) in profile.meta.iter().filter(|(key, _)| *key != COLUMNS) {
        for part in value.split('\n') {
            writeln!(out, "# {}={}", line(key), line(part))?;
        }
    }
    for note in &profile.notes {
        writeln!(out, "# note: {}", line(note))?;
    }
    for damage in &profile.damage {
        writeln!(out, "# incomplete: {}", line(&damage.to_string()))?;
    }
    Ok(())
}

/// Positions of lines among those of siblings.
///
/// The line of a context does not always directly precede the lines of its callees. With the
/// siblings `a` and `a$b`, the lines are `a`, `a$b`, `a;x`, since `$` sorts before `;`. So each
/// frame has two places among its siblings: its own line sorts as its text, the lines below it as
/// its text followed by `;`. No text contains a `;`. So none of the latter is a prefix of another,
/// and whole blocks of lines never interleave.
struct Places {
    line: Vec<u32>,
    below: Vec<u32>,
}

impl Places {
    fn of(table: &FrameTable<'_>) -> Places {
        let frames = table.frames();
        let text =
            |&(frame, below): &(u32, bool)| frames[frame as usize].bytes().chain(below.then_some(b';'));
        let mut order: Vec<(u32, bool)> =
            (0..frames.len() as u32).flat_map(|frame| [(frame, false), (frame, true)]).collect();
        order.sort_by(|a, b| text(a).cmp(text(b)));
        let mut places = Places { line: vec![0; frames.len()], below: vec![0; frames.len()] };
        for (place, (frame, below)) in (0..).zip(order) {
            let table = if below { &mut places.below } else { &mut places.line };
            table[frame as usize] = place;
        }
        places
    }
}

/// Something still to be written.
#[derive(Clone, Copy)]
struct PendingNode {
    place: u32,
    node: u32,
    /// Length in bytes of the parent's path, including the `;` after it.
    path: usize,
    /// The lines below the node, without its own.
    below: bool,
}

struct Lines<'a> {
    profile: &'a Profile,
    table: &'a FrameTable<'a>,
    tree: &'a Tree,
    places: &'a Places,
}

impl Lines<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let bytecodes = self.profile.counts_bytecodes();
        let nodes = self.tree.nodes();
        let mut path: Vec<u8> = Vec::new();
        let mut due: Vec<PendingNode> = Vec::new();
        self.add_children(0, 0, &mut due);
        while let Some(PendingNode { node: index, path: parent, below, .. }) = due.pop() {
            let node = &nodes[index as usize];
            path.truncate(parent);
            path.extend(self.table.frames()[node.method as usize].bytes());
            if below {
                path.push(b';');
                self.add_children(index, path.len(), &mut due);
                continue;
            }
            path.push(b'\n');
            if bytecodes {
                write!(out, "{} {} ", node.calls, node.bytecodes)?;
            } else {
                write!(out, "{} - ", node.calls)?;
            }
            out.write_all(&path)?;
        }
        Ok(())
    }

    /// Pushes the lines below `node` on the stack, the first on top.
    fn add_children(&self, node: u32, path: usize, due: &mut Vec<PendingNode>) {
        let start = due.len();
        for child in self.tree.children(node) {
            let node = &self.tree.nodes()[child as usize];
            let frame = node.method as usize;
            if !node.is_empty() {
                due.push(PendingNode { place: self.places.line[frame], node: child, path, below: false });
            }
            if self.tree.subtree(child).len() > 1 {
                due.push(PendingNode { place: self.places.below[frame], node: child, path, below: true });
            }
        }
        due[start..].sort_unstable_by_key(|d| std::cmp::Reverse(d.place));
    }
}
