//! Which contexts are compared: what is left out, and below which method the comparison starts.

use super::{CompareOptions, Pattern};
use crate::merge::joined;
use crate::names::FrameTable;
use crate::{MergeError, Tree, TreeBuilder};

/// The options, for every frame of a table.
#[derive(Debug)]
pub(super) struct Selection {
    /// Whether the frame is a root; `None` when there is no such choice.
    root: Option<Vec<bool>>,
    ignored: Vec<bool>,
    /// The outermost frames are threads: they stay, whatever the root.
    per_thread: bool,
    identity: Vec<u32>,
}

impl Selection {
    /// The selection, and the patterns of [`CompareOptions::ignore`] that match no frame.
    pub(super) fn new<'o>(
        table: &FrameTable<'_>,
        options: &'o CompareOptions,
    ) -> (Selection, Vec<&'o Pattern>) {
        let mut ignored = vec![false; table.frames().len()];
        let mut vain = Vec::new();
        for pattern in &options.ignore {
            let matching = matching(table, pattern);
            if !matching.contains(&true) {
                vain.push(pattern);
            }
            ignored.iter_mut().zip(matching).for_each(|(ignored, matching)| *ignored |= matching);
        }
        let root = options.root.as_ref().map(|pattern| matching(table, pattern));
        let identity = (0..ignored.len() as u32).collect();
        (Selection { root, ignored, per_thread: options.per_thread, identity }, vain)
    }

    /// What is selected of a tree whose labels are frames, united as [`joined`] does it, and whether the root was met.
    pub(super) fn of(&self, tree: Tree) -> Result<(Tree, bool), MergeError> {
        if self.root.is_none() && !self.ignored.contains(&true) {
            return Ok((tree, true));
        }
        let nodes = tree.nodes();
        let mut builder = TreeBuilder::new();
        let mut open: Vec<u32> = Vec::new();
        // Where the subtree of the root ends in which the walk is.
        let mut below_root = if self.root.is_none() { u32::MAX } else { 0 };
        let mut root_met = self.root.is_none();
        let mut thread_end = 1;
        let mut index = 1;
        while (index as usize) < nodes.len() {
            while open.pop_if(|end| *end <= index).is_some() {
                builder.leave();
            }
            let (node, end) = (&nodes[index as usize], tree.subtree(index).end);
            let is_thread = self.per_thread && index >= thread_end;
            if is_thread {
                thread_end = end;
            }
            if self.ignored[node.method as usize] {
                index = end;
                continue;
            }
            let is_root = self.root.as_ref().is_some_and(|root| root[node.method as usize]) && !is_thread;
            if is_root && index >= below_root {
                below_root = end;
                root_met = true;
            }
            if is_thread || index < below_root {
                builder.enter(node.method, node.calls, node.bytecodes)?;
                open.push(end);
            }
            index += 1;
        }
        let selected = builder.finish();
        drop(tree);
        // Occurrences of the root on different stacks have become siblings.
        Ok((joined(&[(&selected, &self.identity)])?, root_met))
    }
}

/// For each frame of the table, whether it is meant.
fn matching(table: &FrameTable<'_>, pattern: &Pattern) -> Vec<bool> {
    let mut text = Vec::new();
    let matching = table.frames().iter().map(|frame| {
        text.clear();
        text.extend(frame.bytes());
        pattern.matches(&text)
    });
    matching.collect()
}
