//! A calling-context tree, stored in preorder.
//!
//! A node needs no links. Its first child, if it has one, is the next element. `end` is the end of
//! its subtree, where its next sibling starts. It takes 24 bytes per node, in one allocation per
//! tree; columns take 8 bytes per node and column, in a second one.

use std::ops::Range;

/// The [`Node::method`] of a tree's root, which is no method.
pub const ROOT: u32 = u32::MAX;

/// One calling context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index of the method into the table that the tree belongs to ([`crate::Profile::methods`] or
    /// [`crate::names::FrameTable`]); [`ROOT`] for the root.
    pub method: u32,
    end: u32,
    /// Number of entries of this context.
    pub calls: u64,
    /// Bytecodes executed by this context itself, without its callees.
    pub bytecodes: u64,
}

impl Node {
    /// Whether nothing was recorded for this context itself: it only leads to others.
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.bytecodes == 0
    }
}

/// A calling-context tree. It always has a root, at index 0, whose counts mean nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Node>,
    /// Number of columns besides calls and bytecodes.
    columns: usize,
    /// The columns' numbers, node by node.
    values: Vec<u64>,
}

impl Tree {
    /// All nodes in preorder, the root first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of columns besides calls and bytecodes.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The node's number in each column.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn values(&self, node: u32) -> &[u64] {
        let first = node as usize * self.columns;
        &self.values[first..first + self.columns]
    }

    /// Replaces the numbers of bytecodes by those of a column, and drops all columns.
    pub(crate) fn counted_by(&mut self, column: usize) {
        for (index, node) in self.nodes.iter_mut().enumerate() {
            node.bytecodes = self.values.get(index * self.columns + column).copied().unwrap_or(0);
        }
        self.without_columns();
    }

    /// Drops all columns.
    pub(crate) fn without_columns(&mut self) {
        self.columns = 0;
        self.values = Vec::new();
    }

    /// The same contexts without their counts and columns.
    #[must_use]
    pub(crate) fn without_counts(mut self) -> Tree {
        self.without_columns();
        self.nodes.iter_mut().for_each(|node| (node.calls, node.bytecodes) = (0, 0));
        self
    }

    /// Number of contexts: all nodes but the root.
    pub fn contexts(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The indices of `node` and all below it.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn subtree(&self, node: u32) -> Range<u32> {
        node..self.nodes[node as usize].end
    }

    /// Changes the methods of nodes. `method` is called for each node but the root, callers before
    /// callees, with the node's method and whether it is outermost. Afterwards siblings may be out
    /// of order.
    pub(crate) fn relabel(&mut self, mut method: impl FnMut(u32, bool) -> u32) {
        let mut next_outermost = 1;
        for (index, node) in (0u32..).zip(&mut self.nodes).skip(1) {
            let is_outermost = index == next_outermost;
            if is_outermost {
                next_outermost = node.end;
            }
            node.method = method(node.method, is_outermost);
        }
    }

    /// The contexts below `node`, as a separate tree whose root has no counts.
    ///
    /// # Panics
    /// If there is no such node.
    pub(crate) fn below(&self, node: u32) -> Tree {
        let range = self.subtree(node);
        let mut nodes = self.nodes[range.start as usize..range.end as usize].to_vec();
        nodes.iter_mut().for_each(|node| node.end -= range.start);
        nodes[0] = Node { method: ROOT, calls: 0, bytecodes: 0, ..nodes[0] };
        let of_node = |index: u32| index as usize * self.columns;
        let mut values = self.values[of_node(range.start)..of_node(range.end)].to_vec();
        values[..self.columns].fill(0);
        Tree { nodes, columns: self.columns, values }
    }

    /// The indices of the children of `node`, in their stored order.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn children(&self, node: u32) -> Children<'_> {
        Children { tree: self, next: node + 1, end: self.nodes[node as usize].end }
    }
}

/// Iterator over the children of a node ([`Tree::children`]).
#[derive(Clone, Debug)]
pub struct Children<'a> {
    tree: &'a Tree,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let child = self.next;
        if child >= self.end {
            return None;
        }
        self.next = self.tree.nodes[child as usize].end;
        Some(child)
    }
}

/// A tree cannot have more nodes than a `u32` can number (about 100 GB of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a tree has more than 4294967294 contexts; profile a shorter run, or record threads separately")]
pub struct TreeTooLarge;

/// Builds a [`Tree`] from calls and returns.
#[derive(Clone, Debug)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    columns: usize,
    values: Vec<u64>,
    open: Vec<u32>,
}

impl TreeBuilder {
    /// Creates a tree with only a root.
    pub fn new() -> TreeBuilder {
        TreeBuilder::with_root(0, 0)
    }

    /// Creates a tree with only a root, with the root's counts from a file.
    pub fn with_root(calls: u64, bytecodes: u64) -> TreeBuilder {
        let nodes = vec![Node { method: ROOT, end: 0, calls, bytecodes }];
        TreeBuilder { nodes, columns: 0, values: Vec::new(), open: Vec::new() }
    }

    /// Adds this many columns besides calls and bytecodes, all 0 so far.
    #[must_use]
    pub fn with_columns(mut self, columns: usize) -> TreeBuilder {
        self.columns = columns;
        self.values = vec![0; self.nodes.len() * columns];
        self
    }

    /// Adds a child to the current node (the one entered last and not yet left), and enters it.
    ///
    /// # Errors
    /// Fails if the tree is full.
    pub fn enter(&mut self, method: u32, calls: u64, bytecodes: u64) -> Result<(), TreeTooLarge> {
        let index = u32::try_from(self.nodes.len()).ok().filter(|&i| i < u32::MAX).ok_or(TreeTooLarge)?;
        self.open.push(index);
        self.nodes.push(Node { method, end: 0, calls, bytecodes });
        self.values.resize(self.nodes.len() * self.columns, 0);
        Ok(())
    }

    /// The numbers of the current node's columns; the root's if no node is entered.
    pub fn numbers(&mut self) -> &mut [u64] {
        let first = self.open.last().map_or(0, |&node| node as usize) * self.columns;
        &mut self.values[first..first + self.columns]
    }

    /// Leaves the current node. Without one, nothing happens: [`TreeBuilder::finish`] leaves the
    /// root.
    pub fn leave(&mut self) {
        // `enter` keeps the length within u32.
        let end = self.nodes.len() as u32;
        if let Some(node) = self.open.pop() {
            self.nodes[node as usize].end = end;
        }
    }

    /// The tree. Leaves all nodes that are still open.
    pub fn finish(mut self) -> Tree {
        while !self.open.is_empty() {
            self.leave();
        }
        self.nodes[0].end = self.nodes.len() as u32;
        self.nodes.shrink_to_fit();
        self.values.shrink_to_fit();
        Tree { nodes: self.nodes, columns: self.columns, values: self.values }
    }
}

impl Default for TreeBuilder {
    fn default() -> TreeBuilder {
        TreeBuilder::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_by_the_ends_of_their_siblings() -> Result<(), TreeTooLarge> {
        let mut b = TreeBuilder::new();
        b.enter(7, 1, 10)?; // 1
        b.enter(8, 2, 20)?; // 2
        b.enter(9, 3, 30)?; // 3
        b.leave();
        b.leave();
        b.enter(8, 4, 40)?; // 4
        b.leave();
        b.leave();
        b.enter(6, 5, 50)?; // 5, never left
        let tree = b.finish();
        assert_eq!(tree.contexts(), 5);
        assert_eq!(tree.children(0).collect::<Vec<_>>(), [1, 5]);
        assert_eq!(tree.children(1).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(tree.children(2).collect::<Vec<_>>(), [3]);
        assert_eq!(tree.children(5).count(), 0);
        assert_eq!(tree.subtree(1), 1..5);
        assert_eq!(tree.subtree(0), 0..6);
        assert_eq!(tree.nodes()[4].bytecodes, 40);
        let below = tree.below(1);
        assert_eq!((below.nodes()[0].method, below.nodes()[0].calls), (ROOT, 0));
        assert_eq!(below.children(0).map(|i| below.nodes()[i as usize].calls).collect::<Vec<_>>(), [2, 4]);
        assert_eq!((below.subtree(0), below.subtree(1)), (0..4, 1..3));
        Ok(())
    }

    #[test]
    fn columns_belong_to_their_nodes() -> Result<(), TreeTooLarge> {
        let mut b = TreeBuilder::new().with_columns(2);
        b.numbers()[0] = 1;
        b.enter(7, 1, 10)?;
        b.enter(8, 2, 20)?;
        b.numbers().copy_from_slice(&[3, 4]);
        b.leave();
        b.numbers()[1] = 5;
        let mut tree = b.finish();
        let all: Vec<&[u64]> = (0..3).map(|node| tree.values(node)).collect();
        assert_eq!(all, [[1, 0], [0, 5], [3, 4]]);
        assert_eq!((tree.below(1).values(0), tree.below(1).values(1)), (&[0, 0][..], &[3, 4][..]));
        tree.counted_by(1);
        assert_eq!(tree.nodes().iter().map(|node| node.bytecodes).collect::<Vec<_>>(), [0, 5, 4]);
        assert_eq!((tree.columns(), tree.values(2).len()), (0, 0));
        Ok(())
    }

    #[test]
    fn leaving_the_root_does_nothing() {
        let mut b = TreeBuilder::new();
        b.leave();
        assert_eq!(b.finish().nodes().len(), 1);
    }
}
