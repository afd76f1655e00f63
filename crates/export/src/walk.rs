//! A walk through a tree, into each context and out of it again.

use cct_profile::{Node, Tree};
use std::cmp::Reverse;

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

/// The steps with the heaviest of siblings first, by the sum of their own counts and those below
/// them; contexts for which `is_last` says so come after all others.
pub(crate) fn heaviest_first(
    tree: &Tree,
    own: impl Fn(&Node) -> u64,
    is_last: impl Fn(&Node) -> bool,
) -> impl Iterator<Item = Step> {
    // A subtree is a range of the preorder, so one running sum serves all. Sums of sources fit.
    let mut before = Vec::with_capacity(tree.nodes().len() + 1);
    let mut sum = 0u64;
    before.push(0);
    before.extend(tree.nodes().iter().map(|node| {
        sum = sum.saturating_add(own(node));
        sum
    }));
    let weight = move |context: u32| {
        let subtree = tree.subtree(context);
        before[subtree.end as usize] - before[subtree.start as usize]
    };
    let below = move |context: u32, from: u32, next: &mut Vec<Step>| {
        let (first, end) = (next.len(), tree.subtree(context).end);
        let mut callee = from;
        while callee < end {
            next.push(Step::Enter(callee));
            callee = tree.subtree(callee).end;
        }
        // The last one is the next one.
        next[first..].sort_by_key(|step| match step {
            Step::Enter(callee) | Step::Leave(callee) => {
                (!is_last(&tree.nodes()[*callee as usize]), weight(*callee), Reverse(*callee))
            }
        });
    };
    let mut next = Vec::new();
    below(0, 1, &mut next);
    std::iter::from_fn(move || {
        let step = next.pop()?;
        if let Step::Enter(context) = step {
            next.push(Step::Leave(context));
            below(context, context + 1, &mut next);
        }
        Some(step)
    })
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
    use crate::testing;
    use cct_profile::TreeBuilder;

    #[test]
    fn each_context_is_left_after_its_callees() {
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

    #[test]
    fn the_heaviest_siblings_come_first() {
        // 1 (1) with 2 (4) and 3 (4), and 4 (2) with 5 (8); then 6 (90), which is always the last.
        let tree = testing::tree(&[
            (1, 0, 1, 1),
            (2, 1, 1, 4),
            (2, 2, 1, 4),
            (1, 3, 1, 2),
            (2, 4, 1, 8),
            (1, 5, 1, 90),
        ]);
        let own = |node: &Node| node.bytecodes;
        let steps: Vec<Step> = heaviest_first(&tree, own, |node| node.method == 5).collect();
        let expected = [
            Enter(4),
            Enter(5),
            Leave(5),
            Leave(4),
            Enter(1),
            Enter(2),
            Leave(2),
            Enter(3),
            Leave(3),
            Leave(1),
            Enter(6),
            Leave(6),
        ];
        assert_eq!(steps, expected);
        assert_eq!(heaviest_first(&TreeBuilder::new().finish(), own, |_| false).count(), 0);
    }
}
