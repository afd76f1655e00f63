//! The depth-first order of a graph, and its retreating edges.
//!
//! All other analyses build on one walk through the graph. An edge is *retreating* if it leads to a
//! block whose walk is not finished: an ancestor of its source in the depth-first tree, or the
//! source itself. Without these edges the graph has no cycle. So every cycle contains a retreating
//! edge and passes through its target. These targets are the [`heads`](DepthFirst::heads) of loops.
//! In reducible code, which compilers produce, the heads do not depend on the order of the walk. In
//! irreducible code a loop has several entries; the order decides which is the head, and any of
//! them will do.
//!
//! **The walk includes dead code.** It starts at the entry. As long as there are unreached blocks,
//! it starts again at the first of them in the code. Each start adds a tree, so the result is a
//! forest. The first tree is the code that the entry reaches. Edges between trees lead only from
//! later trees to earlier ones. So the analyses need no exception for unreachable blocks, nor for
//! code that only an asynchronous exception reaches.

use std::ops::Range;

use crate::blocks::BlockId;
use crate::graph::Graph;

/// The state of a block during the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    Open,
    Finished,
}

/// A block on the path of the walk.
#[derive(Debug, Clone, Copy)]
struct Frame {
    block: BlockId,
    /// Number of successors already visited: first the normal ones, then the exceptional ones.
    taken: u32,
}

/// A depth-first walk through a graph.
#[derive(Debug, Clone, Default)]
pub struct DepthFirst {
    postorder: Vec<BlockId>,
    post: Vec<u32>,
    pre: Vec<u32>,
    /// The largest preorder number in the subtree of each block.
    last: Vec<u32>,
    /// End of each tree in the postorder.
    tree_ends: Vec<u32>,
    retreating: Vec<(BlockId, BlockId)>,
    heads: Vec<BlockId>,
    // Scratch memory.
    state: Vec<State>,
    stack: Vec<Frame>,
}

impl DepthFirst {
    /// Walks through a graph.
    pub fn of(graph: &Graph) -> Self {
        let mut order = DepthFirst::default();
        order.compute(graph);
        order
    }

    /// Walks through another graph. Reuses the memory of the previous walk.
    pub fn compute(&mut self, graph: &Graph) {
        let blocks = graph.len();
        self.postorder.clear();
        self.tree_ends.clear();
        self.retreating.clear();
        for numbers in [&mut self.post, &mut self.pre, &mut self.last] {
            numbers.clear();
            numbers.resize(blocks, 0);
        }
        self.state.clear();
        self.state.resize(blocks, State::Unseen);
        let mut opened = 0;
        for root in 0..blocks as BlockId {
            if self.state[root as usize] == State::Unseen {
                self.walk(graph, root, &mut opened);
                self.tree_ends.push(self.postorder.len() as u32);
            }
        }
        self.heads.clear();
        self.heads.extend(self.retreating.iter().map(|&(_, head)| head));
        self.heads.sort_unstable();
        self.heads.dedup();
    }

    /// Walks the blocks that are reachable from `root` and were not reached before. `opened` counts
    /// the blocks in preorder.
    fn walk(&mut self, graph: &Graph, root: BlockId, opened: &mut u32) {
        self.open(root, opened);
        while let Some(Frame { block, taken }) = self.stack.last_mut() {
            let (source, next) = (*block, *taken as usize);
            *taken += 1;
            let normal = graph.normal_successors(source);
            let target = match normal.get(next) {
                Some(&target) => Some(target),
                None => graph.exceptional_successors(source).get(next - normal.len()).copied(),
            };
            match target.map(|target| (target, self.state[target as usize])) {
                Some((target, State::Unseen)) => self.open(target, opened),
                Some((target, State::Open)) => self.retreating.push((source, target)),
                Some((_, State::Finished)) => {}
                None => {
                    self.stack.pop();
                    self.state[source as usize] = State::Finished;
                    self.last[source as usize] = *opened - 1;
                    self.post[source as usize] = self.postorder.len() as u32;
                    self.postorder.push(source);
                }
            }
        }
    }

    fn open(&mut self, block: BlockId, opened: &mut u32) {
        self.state[block as usize] = State::Open;
        self.pre[block as usize] = *opened;
        *opened += 1;
        self.stack.push(Frame { block, taken: 0 });
    }

    /// All blocks, in the order in which the walk finished them, tree by tree. The target of an
    /// edge that is not retreating comes before its source.
    pub fn postorder(&self) -> &[BlockId] {
        &self.postorder
    }

    /// Position of a block in the postorder.
    #[inline]
    pub fn post(&self, block: BlockId) -> u32 {
        self.post[block as usize]
    }

    /// Position of a block in preorder, the order in which the walk first reaches the blocks.
    #[inline]
    pub fn pre(&self, block: BlockId) -> u32 {
        self.pre[block as usize]
    }

    /// The trees as ranges of the postorder. A tree's root is its last block; the first tree is the
    /// code that the entry reaches.
    pub fn trees(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.tree_ends.iter().map(|&end| end as usize));
        starts.zip(&self.tree_ends).map(|(start, &end)| start..end as usize)
    }

    /// Whether the entry reaches the block.
    pub fn is_reachable(&self, block: BlockId) -> bool {
        self.tree_ends.first().is_some_and(|&end| self.post(block) < end)
    }

    /// Whether `ancestor` is `block` itself or an ancestor of it in the depth-first tree.
    #[inline]
    pub fn is_ancestor(&self, ancestor: BlockId, block: BlockId) -> bool {
        (self.pre(ancestor)..=self.last[ancestor as usize]).contains(&self.pre(block))
    }

    /// The retreating edges, as (source, target), in the order of the walk. An edge that is both
    /// normal and exceptional occurs twice.
    pub fn retreating(&self) -> &[(BlockId, BlockId)] {
        &self.retreating
    }

    /// The targets of retreating edges, in ascending order. Every cycle passes through one of them.
    pub fn heads(&self) -> &[BlockId] {
        &self.heads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;
    use crate::testing::*;
    use cct_classfile::opcode::*;
    use cct_tables::BlockRule;

    fn walk(fixture: &Fixture) -> DepthFirst {
        fixture.with(|code, pool| {
            DepthFirst::of(&Graph::of(code, pool, &Blocks::of(code, pool, BlockRule::Default)).unwrap())
        })
    }

    #[test]
    fn paper_figure_5_has_one_loop() {
        let order = walk(&paper_method());
        assert_eq!((order.retreating(), order.heads()), (&[(2, 1)][..], &[1][..]));
        assert_eq!(order.postorder(), [2, 3, 1, 0]);
    }

    #[test]
    fn dead_code_is_a_tree_of_its_own() {
        // return | dead: goto itself
        let order = walk(&Fixture::new(&[op(&[RETURN]), Op::Jump(GOTO, 1)], &[]));
        assert_eq!(order.trees().collect::<Vec<_>>(), [0..1, 1..2]);
        assert!(order.is_reachable(0) && !order.is_reachable(1));
        assert_eq!(order.heads(), [1]);
    }

    #[test]
    fn depth_is_no_recursion() {
        // Twenty thousand blocks, each a jump to the next.
        let n = 20_000;
        let mut ops: Vec<_> = (1..=n).map(|next| Op::Jump(IFEQ, next)).collect();
        ops.push(op(&[RETURN]));
        assert_eq!(walk(&Fixture::new(&ops, &[])).postorder().len(), n + 1);
    }

    #[test]
    fn heads_are_on_every_cycle() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                let blocks = Blocks::of(code, pool, BlockRule::Default);
                let graph = Graph::of(code, pool, &blocks).unwrap();
                let order = DepthFirst::of(&graph);
                // Remove blocks without a successor (ignoring edges to heads) until nothing is
                // left: then there is no cycle.
                let mut left: Vec<BlockId> = (0..graph.len() as BlockId).collect();
                while !left.is_empty() {
                    let before = left.clone();
                    left.retain(|&b| {
                        graph.successors(b).any(|s| before.contains(&s) && !order.heads().contains(&s))
                    });
                    assert!(left.len() < before.len(), "a cycle without a head: {left:?}");
                }
                // The order, and the forest.
                let tree = |b| order.trees().position(|t| t.contains(&(order.post(b) as usize)));
                for (from, to) in graph.edges() {
                    let retreats = order.retreating().contains(&(from, to));
                    assert_eq!(retreats, order.is_ancestor(to, from));
                    assert!(retreats || order.post(to) < order.post(from));
                    assert!(tree(to) <= tree(from));
                }
            });
            Ok(())
        });
    }
}
