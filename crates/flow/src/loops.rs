//! Loops: code that may run again.
//!
//! A loop has one head, the target of retreating edges ([`crate::depth_first`]). Its body is the
//! code that may run between two visits of the head: the blocks below the head in the depth-first
//! tree from which the head can be reached again without leaving that subtree. If the head
//! dominates the sources of its retreating edges, these are *back edges* and the body is the
//! natural loop, entered only at its head. Otherwise control may jump into the middle. Then the
//! loop is marked as irreducible, and its head is the first of its entries on the walk. Java source
//! cannot express such loops; obfuscators and some compilers of other languages can.
//!
//! With this definition two loops are either disjoint or nested, irreducible ones too. Proof: let
//! the head *h* lie in the subtree of the head *g*. If *g* can be reached from *h*, then it can be
//! reached from all of *h*'s body by way of *h*. If not, then from none of it, since *h* reaches
//! all its subtree.

use crate::blocks::BlockId;
use crate::depth_first::DepthFirst;
use crate::dominators::Dominators;
use crate::graph::{Adjacency, Graph};

/// Position of a loop in [`Loops`].
pub type LoopId = u32;

/// A loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The block through which every iteration passes.
    pub head: BlockId,
    /// The sources of the edges that lead back to the head, ascending.
    pub latches: Vec<BlockId>,
    /// Number of its blocks, the head and inner loops included.
    pub blocks: u32,
    /// Whether it can only be entered at its head.
    pub reducible: bool,
    /// The innermost loop around it.
    pub parent: Option<LoopId>,
}

/// The loops of a graph: outer before inner, in the order in which a depth-first walk meets their
/// heads.
///
/// Bodies are not stored, since those of nested loops may add up to the square of the code. The
/// loops of a block follow from the innermost one.
#[derive(Debug, Clone, Default)]
pub struct Loops {
    list: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
}

impl Loops {
    /// The loops of a graph, given its walk and its dominators.
    pub fn of(graph: &Graph, order: &DepthFirst, dominators: &Dominators) -> Self {
        let mut loops = Loops { list: Vec::new(), innermost: vec![None; graph.len()] };
        if order.heads().is_empty() {
            return loops;
        }
        let mut predecessors = Adjacency::default();
        predecessors.assign(graph.len(), graph.edges().map(|(from, to)| (to, from)));
        let mut latches_of = Adjacency::default();
        latches_of.assign(graph.len(), order.retreating().iter().map(|&(from, to)| (to, from)));
        let mut heads = order.heads().to_vec();
        heads.sort_unstable_by_key(|&head| order.pre(head));
        let mut body = Vec::new();
        for (id, head) in (0..).zip(heads) {
            let mut latches = latches_of.of(head).to_vec();
            latches.sort_unstable();
            latches.dedup();
            let reducible = latches.iter().all(|&latch| dominators.dominates(head, latch));
            // Search backwards from the head, within its subtree. Outer loops came before, so every
            // block that this one takes becomes its own.
            let parent = loops.innermost[head as usize].replace(id);
            body.clear();
            body.push(head);
            let mut searched = 0;
            while let Some(&block) = body.get(searched) {
                for &from in predecessors.of(block) {
                    if order.is_ancestor(head, from) && loops.innermost[from as usize].replace(id) != Some(id)
                    {
                        body.push(from);
                    }
                }
                searched += 1;
            }
            loops.list.push(Loop { head, latches, blocks: body.len() as u32, reducible, parent });
        }
        loops
    }

    /// The innermost loop that contains a block.
    pub fn innermost(&self, block: BlockId) -> Option<LoopId> {
        self.innermost[block as usize]
    }

    /// The loops that contain a block, from the innermost outwards.
    pub fn around(&self, block: BlockId) -> impl Iterator<Item = LoopId> + '_ {
        std::iter::successors(self.innermost(block), |&id| self.list[id as usize].parent)
    }

    /// The blocks of a loop, inner loops included, ascending.
    pub fn body(&self, id: LoopId) -> impl Iterator<Item = BlockId> + '_ {
        (0..self.innermost.len() as BlockId)
            .filter(move |&block| self.around(block).any(|around| around == id))
    }
}

impl std::ops::Deref for Loops {
    type Target = [Loop];

    fn deref(&self) -> &[Loop] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::blocks::Blocks;
    use crate::testing::*;
    use cct_classfile::opcode::*;
    use cct_tables::BlockRule;

    /// The loops, and their bodies.
    fn loops(fixture: &Fixture) -> Vec<(Loop, Vec<BlockId>)> {
        fixture.with(|code, pool| {
            let graph = Graph::of(code, pool, &Blocks::of(code, pool, BlockRule::Default)).unwrap();
            let order = DepthFirst::of(&graph);
            let loops = Loops::of(&graph, &order, &Dominators::of(&graph, &order));
            (0..).zip(loops.iter()).map(|(id, l)| (l.clone(), loops.body(id).collect())).collect()
        })
    }

    #[test]
    fn paper_figure_5() {
        let expected = Loop { head: 1, latches: vec![2], blocks: 2, reducible: true, parent: None };
        assert_eq!(loops(&paper_method()), [(expected, vec![1, 2])]);
    }

    #[test]
    fn loops_nest() {
        // nop | 1: nop; nop | 3: ifeq 3 | 4: ifeq 1 | 5: return
        let ops = [op(&[NOP]), op(&[NOP]), op(&[NOP]), Op::Jump(IFEQ, 3), Op::Jump(IFEQ, 1), op(&[RETURN])];
        let outer = Loop { head: 1, latches: vec![3], blocks: 3, reducible: true, parent: None };
        let inner = Loop { head: 2, latches: vec![2], blocks: 1, reducible: true, parent: Some(0) };
        assert_eq!(loops(&Fixture::new(&ops, &[])), [(outer, vec![1, 2, 3]), (inner, vec![2])]);
    }

    #[test]
    fn a_loop_with_two_entries_is_irreducible() {
        // ifeq 2 | 1: nop | 2: ifeq 1 | return: blocks 1 and 2 are a cycle that the entry enters at
        // either.
        let ops = [Op::Jump(IFEQ, 2), op(&[NOP]), Op::Jump(IFEQ, 1), op(&[RETURN])];
        let expected = Loop { head: 1, latches: vec![2], blocks: 2, reducible: false, parent: None };
        assert_eq!(loops(&Fixture::new(&ops, &[])), [(expected, vec![1, 2])]);
    }

    /// The body by its definition: the blocks within the head's subtree from which the head can be
    /// reached.
    fn body(graph: &Graph, order: &DepthFirst, head: BlockId) -> BTreeSet<BlockId> {
        let mut body = BTreeSet::from([head]);
        loop {
            let before = body.len();
            let into = graph
                .edges()
                .filter(|&(from, to)| order.is_ancestor(head, from) && order.is_ancestor(head, to));
            for (from, to) in into {
                if body.contains(&to) {
                    body.insert(from);
                }
            }
            if body.len() == before {
                return body;
            }
        }
    }

    /// The natural loop of a head (textbook definition): the blocks that reach a latch without
    /// passing the head.
    fn natural_loop(graph: &Graph, order: &DepthFirst, l: &Loop) -> BTreeSet<BlockId> {
        let mut natural: BTreeSet<_> = l.latches.iter().copied().chain([l.head]).collect();
        loop {
            let before = natural.len();
            for (from, to) in graph.edges().filter(|&(from, to)| to != l.head && order.is_reachable(from)) {
                if natural.contains(&to) {
                    natural.insert(from);
                }
            }
            if natural.len() == before {
                return natural;
            }
        }
    }

    #[test]
    fn loops_are_as_defined() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                let graph = Graph::of(code, pool, &Blocks::of(code, pool, BlockRule::Default)).unwrap();
                let order = DepthFirst::of(&graph);
                let loops = Loops::of(&graph, &order, &Dominators::of(&graph, &order));
                assert_eq!(loops.len(), order.heads().len());
                let bodies: Vec<_> = loops.iter().map(|l| body(&graph, &order, l.head)).collect();
                for ((id, l), own) in (0..).zip(loops.iter()).zip(&bodies) {
                    let to_head = order.retreating().iter().filter(|&&(_, to)| to == l.head);
                    let sources: BTreeSet<_> = to_head.map(|&(from, _)| from).collect();
                    assert!(l.latches.iter().eq(&sources));
                    assert!(loops.body(id).eq(own.iter().copied()));
                    assert_eq!(l.blocks as usize, own.len());
                    if order.is_reachable(l.head) {
                        if l.reducible {
                            assert_eq!(*own, natural_loop(&graph, &order, l));
                        }
                        let side_door = graph.edges().any(|(from, to)| {
                            let enters = to != l.head && own.contains(&to) && !own.contains(&from);
                            enters && order.is_reachable(from)
                        });
                        assert_eq!(l.reducible, !side_door);
                    }
                    assert!(
                        bodies.iter().all(|b| b.is_subset(own) || own.is_subset(b) || b.is_disjoint(own))
                    );
                }
            });
            Ok(())
        });
    }
}
