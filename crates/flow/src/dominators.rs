//! Dominators: blocks that must have run before others.
//!
//! Block A dominates block B if every path from the entry to B passes through A; the immediate
//! dominator is the one nearest to B. The algorithm is that of Cooper, Harvey and Kennedy. Take the
//! blocks in reverse postorder. A block's immediate dominator is where the dominator chains of its
//! predecessors meet. Repeat until nothing changes. For reducible code the second round already
//! changes nothing. The algorithm beats asymptotically better ones on graphs of any size that
//! methods have. (In hostile code, irreducible throughout, the number of rounds can equal the
//! number of blocks.)
//!
//! A block that the entry does not reach has no dominators in that sense. It counts as part of a
//! method of its own, whose entry is the root of its depth-first tree ([`crate::depth_first`]).
//! Edges from unreachable code into reachable code are ignored, as they must be.

use crate::blocks::BlockId;
use crate::depth_first::DepthFirst;
use crate::graph::{Adjacency, Graph};

/// No dominator known yet.
const UNKNOWN: BlockId = BlockId::MAX;

/// The dominator tree of a graph.
#[derive(Debug, Clone, Default)]
pub struct Dominators {
    /// Immediate dominator of each block; a root is its own.
    immediate: Vec<BlockId>,
    /// Position in the postorder, by block: dominators come after the blocks that they dominate.
    post: Vec<u32>,
    // Scratch memory.
    predecessors: Adjacency,
}

impl Dominators {
    /// The dominators of a graph whose walk is `order`.
    pub fn of(graph: &Graph, order: &DepthFirst) -> Self {
        let mut dominators = Dominators::default();
        dominators.compute(graph, order);
        dominators
    }

    /// Replaces the dominators with those of another graph, reusing the memory.
    pub fn compute(&mut self, graph: &Graph, order: &DepthFirst) {
        self.predecessors.assign(graph.len(), graph.edges().map(|(from, to)| (to, from)));
        self.immediate.clear();
        self.immediate.resize(graph.len(), UNKNOWN);
        self.post.clear();
        self.post.extend((0..graph.len() as BlockId).map(|block| order.post(block)));
        for tree in order.trees() {
            let root = order.postorder()[tree.end - 1];
            self.immediate[root as usize] = root;
            let inner = &order.postorder()[tree.start..tree.end - 1];
            let mut changed = true;
            while changed {
                changed = false;
                for &block in inner.iter().rev() {
                    // The dominator of a predecessor may become known only in the next round. If
                    // the predecessor belongs to a later tree, it becomes known later still, so
                    // unreachable code has no influence here.
                    let known = (self.predecessors.of(block).iter().copied())
                        .filter(|&p| self.immediate[p as usize] != UNKNOWN);
                    let Some(meet) = known.reduce(|a, b| self.meet(a, b)) else { continue };
                    if self.immediate[block as usize] != meet {
                        self.immediate[block as usize] = meet;
                        changed = true;
                    }
                }
            }
        }
    }

    /// The nearest block on both dominator chains.
    fn meet(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            if self.post[a as usize] < self.post[b as usize] {
                a = self.immediate[a as usize];
            } else {
                b = self.immediate[b as usize];
            }
        }
        a
    }

    /// The immediate dominator; `None` for the entry, and for the first block of unreachable code.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        let dominator = self.immediate[block as usize];
        (dominator != block).then_some(dominator)
    }

    /// Whether `a` dominates `b`; every block dominates itself.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let mut at = b;
        while self.post[at as usize] < self.post[a as usize] {
            match self.immediate(at) {
                Some(dominator) => at = dominator,
                None => return false,
            }
        }
        at == a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::Blocks;
    use crate::testing::*;
    use cct_tables::BlockRule;

    #[test]
    fn paper_figure_5() {
        paper_method().with(|code, pool| {
            let graph = Graph::of(code, pool, &Blocks::of(code, pool, BlockRule::Default)).unwrap();
            let dominators = Dominators::of(&graph, &DepthFirst::of(&graph));
            assert_eq!(
                (0..4).map(|b| dominators.immediate(b)).collect::<Vec<_>>(),
                [None, Some(0), Some(1), Some(1)]
            );
        });
    }

    /// The blocks that `root` reaches within `tree` without passing `removed`.
    fn reachable(graph: &Graph, tree: &[BlockId], root: BlockId, removed: Option<BlockId>) -> Vec<BlockId> {
        let mut found = Vec::from_iter((Some(root) != removed).then_some(root));
        let mut next = 0;
        while let Some(&block) = found.get(next) {
            for s in graph.successors(block) {
                if Some(s) != removed && tree.contains(&s) && !found.contains(&s) {
                    found.push(s);
                }
            }
            next += 1;
        }
        found
    }

    #[test]
    fn dominators_are_as_defined() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                for rule in [BlockRule::Default, BlockRule::Precise] {
                    let graph = Graph::of(code, pool, &Blocks::of(code, pool, rule)).unwrap();
                    let order = DepthFirst::of(&graph);
                    let dominators = Dominators::of(&graph, &order);
                    for tree in order.trees().map(|range| &order.postorder()[range]) {
                        let root = tree[tree.len() - 1];
                        assert_eq!(dominators.immediate(root), None);
                        for a in 0..graph.len() as BlockId {
                            let without = reachable(&graph, tree, root, Some(a));
                            for &b in tree {
                                let expected = tree.contains(&a) && !without.contains(&b);
                                assert_eq!(dominators.dominates(a, b), expected, "{a} dominates {b}");
                            }
                        }
                        for &b in tree {
                            // Every strict dominator dominates the immediate one.
                            let Some(immediate) = dominators.immediate(b) else { continue };
                            assert!(immediate != b && dominators.dominates(immediate, b));
                            for &a in tree.iter().filter(|&&a| a != b && dominators.dominates(a, b)) {
                                assert!(dominators.dominates(a, immediate));
                            }
                        }
                    }
                }
            });
            Ok(())
        });
    }
}
