//! A walk through a tree, into each context and out of it again.

use cct_profile::Tree;

/// One step of the walk. Contexts are named by their index in [`Tree::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Into a context, from its caller.
    Enter(u32),
    /// Out of it, after all its callees.
    Leave(u32),
}

/// The steps through all contexts of a tree (its root is none), callers before callees, siblings in
/// their stored order.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'t> {
    tree: &'t Tree,
    next: u32,
    open: Vec<u32>,
}

impl<'t> Walk<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Walk<'t> {
        Walk { tree, next: 1, open: Vec::new() }
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some(context) = self.open.pop_if(|context| self.tree.subtree(*context).end == self.next) {
            return Some(Step::Leave(context));
        }
        let context = self.next;
        if context as usize >= self.tree.nodes().len() {
            return None;
        }
        self.next += 1;
        self.open.push(context);
        Some(Step::Enter(context))
    }
}

/// A context and its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The context's index.
    pub(crate) context: u32,
    /// The index of its caller; `None` for an outermost context.
    pub(crate) caller: Option<u32>,
    /// Number of frames of its stack, itself included.
    pub(crate) depth: usize,
}

/// All contexts of a tree in preorder.
#[derive(Clone, Debug)]
pub(crate) struct Places<'t>(Walk<'t>);

impl<'t> Places<'t> {
    pub(crate) fn new(tree: &'t Tree) -> Places<'t> {
        Places(Walk::new(tree))
    }
}

impl Iterator for Places<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        let context = self.0.find_map(|step| match step {
            Step::Enter(context) => Some(context),
            Step::Leave(_) => None,
        })?;
        let open = &self.0.open;
        let caller = open.len().checked_sub(2).map(|index| open[index]);
        Some(Place { context, caller, depth: open.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{Enter, Leave};
    use super::*;
    use cct_profile::TreeBuilder;

    #[test]
    fn each_context_is_left_behind_its_callees() {
        let mut tree = TreeBuilder::new();
        for method in [0, 1] {
            tree.enter(method, 1, 1).unwrap(); // 1, then 2 below it
        }
        tree.leave();
        tree.enter(2, 1, 1).unwrap(); // 3, a sibling of 2
        tree.leave();
        tree.leave();
        tree.enter(3, 1, 1).unwrap(); // 4
        let tree = tree.finish();
        let steps: Vec<Step> = Walk::new(&tree).collect();
        assert_eq!(steps, [Enter(1), Enter(2), Leave(2), Enter(3), Leave(3), Leave(1), Enter(4), Leave(4)]);
        let places: Vec<_> =
            Places::new(&tree).map(|place| (place.context, place.caller, place.depth)).collect();
        assert_eq!(places, [(1, None, 1), (2, Some(1), 2), (3, Some(1), 2), (4, None, 1)]);
        assert_eq!(Walk::new(&TreeBuilder::new().finish()).count(), 0);
    }
}
