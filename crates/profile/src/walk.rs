//! A walk over two trees in parallel.

use crate::Tree;
use crate::tree::Children;
use std::cmp::Ordering;
use std::iter::Peekable;

/// A node in both trees, or in one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    A(u32),
    B(u32),
    Both(u32, u32),
}

struct Level<'t> {
    a: Peekable<Children<'t>>,
    b: Peekable<Children<'t>>,
}

/// Visits all nodes but the roots of two trees: equal paths together, in the order of the labels,
/// callers before callees. The trees share their labels; children are sorted by label and siblings
/// have different ones (as in the result of [`crate::joined::joined`]).
pub(crate) fn walk(a: &Tree, b: &Tree, mut visit: impl FnMut(Match)) {
    let level = |x, y| Level { a: a.children(x).peekable(), b: b.children(y).peekable() };
    let mut levels = vec![level(0, 0)];
    while let Some(Level { a: in_a, b: in_b }) = levels.last_mut() {
        let (x, y) = (in_a.peek().copied(), in_b.peek().copied());
        let order = match (x, y) {
            (Some(x), Some(y)) => a.nodes()[x as usize].method.cmp(&b.nodes()[y as usize].method),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        if order.is_le() {
            in_a.next();
        }
        if order.is_ge() {
            in_b.next();
        }
        match (order, x, y) {
            (Ordering::Less, Some(x), _) => a.subtree(x).for_each(|x| visit(Match::A(x))),
            (Ordering::Greater, _, Some(y)) => b.subtree(y).for_each(|y| visit(Match::B(y))),
            (Ordering::Equal, Some(x), Some(y)) => {
                visit(Match::Both(x, y));
                levels.push(level(x, y));
            }
            _ => drop(levels.pop()),
        }
    }
}

/// The paths of some nodes of a tree, outermost label first, in the order of the nodes, which must
/// be sorted.
pub(crate) fn paths(tree: &Tree, nodes: &[u32]) -> Vec<Vec<u32>> {
    let mut paths = Vec::with_capacity(nodes.len());
    let mut wanted = nodes.iter().copied().peekable();
    let mut open: Vec<(u32, u32)> = Vec::new();
    let mut index = 1;
    while let Some(&next) = wanted.peek() {
        // Subtrees without a wanted node are skipped.
        let end = tree.subtree(index).end;
        if next >= end {
            index = end;
            continue;
        }
        while open.last().is_some_and(|&(end, _)| end <= index) {
            open.pop();
        }
        open.push((end, tree.nodes()[index as usize].method));
        while wanted.next_if_eq(&index).is_some() {
            paths.push(open.iter().map(|&(_, label)| label).collect());
        }
        index += 1;
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::tree;

    #[test]
    fn equal_paths_are_met_together() {
        let a = tree(&[(1, 0, 1, 0), (2, 1, 1, 0), (3, 4, 1, 0), (2, 3, 1, 0), (1, 2, 1, 0)]);
        let b = tree(&[(1, 0, 1, 0), (2, 3, 1, 0), (3, 1, 1, 0), (1, 1, 1, 0), (2, 1, 1, 0), (1, 2, 1, 0)]);
        let mut met = Vec::new();
        walk(&a, &b, |m| met.push(m));
        use Match::{A, B, Both};
        assert_eq!(met, [Both(1, 1), A(2), A(3), Both(4, 2), B(3), B(4), B(5), Both(5, 6)]);
    }

    #[test]
    fn paths_lead_from_the_outermost_frame() {
        let t = tree(&[(1, 0, 1, 0), (2, 1, 1, 0), (3, 4, 1, 0), (2, 3, 1, 0), (1, 2, 1, 0), (2, 5, 1, 0)]);
        assert_eq!(paths(&t, &[1, 3, 3, 4, 6]), [&[0][..], &[0, 1, 4], &[0, 1, 4], &[0, 3], &[2, 5]]);
        assert_eq!(paths(&t, &[]), Vec::<Vec<u32>>::new());
    }
}
