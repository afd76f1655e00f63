//! The control-flow graph of a method.
//!
//! A node is a basic block, by any rule; an edge leads from a block to one that may run next. Block
//! 0 is the entry.
//!
//! **Exceptions leave from the middle.** By the default rule a block continues after an instruction
//! that throws. So an edge to an exception handler means that some instruction of the block may
//! throw ([`crate::throws`]), and that the virtual machine may choose the handler. It may if the
//! handler covers the instruction in the exception table, and no earlier catch-all does (JVMS 2.10:
//! the table is searched in order). Therefore a property of a block in this graph is a property of
//! its *start*. For example, block A dominates block B if the start of A always runs before the
//! start of B. Exceptional edges are kept separate from the others.
//!
//! **Subroutines return.** `jsr` (class files below version 51, JVMS 4.9.1) has an edge to the
//! subroutine and, like an invocation, lets its block continue; `ret` has no successor. The
//! subroutine is thus a part of the graph that all its callers enter, and the code after a call
//! follows the calling block. This loses nothing. Verified code calls subroutines in stack order
//! and returns to each caller once (JVMS 4.10.2.5). So an execution without the part between a
//! `jsr` and its `ret` is a path of this graph, and a part that never returns is reached over the
//! edge to the subroutine. Hence every cycle of execution is a cycle here, and dominance here is
//! dominance in execution. The graph only misses facts of the kind "the subroutine ran before the
//! code after its call".

use cct_classfile::{Bci, Code, ConstantPool, opcode};

use crate::blocks::{BlockId, Blocks};
use crate::throws::may_throw;

/// Maximum number of pairs of an instruction that may throw and a table entry that covers it; far
/// more than compilers produce (no graph of JDK 8's `rt.jar` has more than 2,155 edges).
const PAIR_LIMIT: usize = 1 << 23;

/// A method with too many exception edges: its graph would take too much memory. No compiler
/// generates such an exception table, but a hostile class file can have one. Leave such a method
/// unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the {handlers} exception table entries cover the {throwing} instructions that may throw more than {PAIR_LIMIT} times; \
     leave this method uninstrumented"
)]
pub struct TooManyExceptionEdges {
    /// Entries of the exception table.
    pub handlers: usize,
    /// Instructions that may throw.
    pub throwing: usize,
}

/// Lists of blocks, one per block, in one vector.
#[derive(Debug, Clone, Default)]
pub(crate) struct Adjacency {
    /// Start of each block's list, then the end of the last list.
    starts: Vec<u32>,
    targets: Vec<BlockId>,
}

impl Adjacency {
    #[inline]
    pub(crate) fn of(&self, block: BlockId) -> &[BlockId] {
        let block = block as usize;
        &self.targets[self.starts[block] as usize..self.starts[block + 1] as usize]
    }

    fn clear(&mut self) {
        self.starts.clear();
        self.targets.clear();
    }

    /// Fills the lists from pairs, which keep their order within a list (counting sort).
    pub(crate) fn assign(
        &mut self,
        blocks: usize,
        pairs: impl DoubleEndedIterator<Item = (BlockId, BlockId)> + Clone,
    ) {
        self.clear();
        self.starts.resize(blocks + 1, 0);
        let mut total = 0;
        for (from, _) in pairs.clone() {
            self.starts[from as usize] += 1;
            total += 1;
        }
        self.targets.resize(total, 0);
        let mut end = 0;
        for start in &mut self.starts {
            end += *start;
            *start = end;
        }
        // Each entry is now the end of its list; filling from the end moves it to the start.
        for (from, to) in pairs.rev() {
            let slot = &mut self.starts[from as usize];
            *slot -= 1;
            self.targets[*slot as usize] = to;
        }
    }

    /// Removes repeated targets from each list.
    fn deduplicate(&mut self, seen: &mut BlockSet) {
        let (mut read, mut write) = (0, 0);
        for block in 0..self.starts.len() - 1 {
            let end = self.starts[block + 1] as usize;
            self.starts[block] = write as u32;
            seen.next_list();
            while read < end {
                let target = self.targets[read];
                if seen.insert(target) {
                    self.targets[write] = target;
                    write += 1;
                }
                read += 1;
            }
        }
        self.targets.truncate(write);
        if let Some(last) = self.starts.last_mut() {
            *last = write as u32;
        }
    }
}

/// A set of blocks that is emptied in constant time: it holds the number of the list in which each
/// block was seen last.
#[derive(Debug, Clone, Default)]
struct BlockSet {
    list: u32,
    last: Vec<u32>,
}

impl BlockSet {
    fn reset(&mut self, blocks: usize) {
        self.list = 0;
        self.last.clear();
        self.last.resize(blocks, 0);
    }

    fn next_list(&mut self) {
        self.list += 1;
    }

    fn insert(&mut self, block: BlockId) -> bool {
        std::mem::replace(&mut self.last[block as usize], self.list) != self.list
    }
}

/// An instruction that may throw.
#[derive(Debug, Clone, Copy)]
struct ThrowSite {
    bci: Bci,
    block: BlockId,
    /// Whether a catch-all of the exception table covers it: later entries are not searched.
    caught: bool,
}

/// A control-flow graph.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    normal: Adjacency,
    exceptional: Adjacency,
    handlers: Vec<BlockId>,
    subroutines: Vec<BlockId>,
    // Scratch memory.
    throwing: Vec<ThrowSite>,
    pairs: Vec<(BlockId, BlockId)>,
    seen: BlockSet,
}

impl Graph {
    /// The graph over `blocks`, which are those of `code`. `pool` is the constant pool of its
    /// class.
    ///
    /// # Errors
    /// When a hostile exception table would make the graph unreasonably large.
    pub fn of(
        code: &Code<'_>,
        pool: &ConstantPool<'_>,
        blocks: &Blocks,
    ) -> Result<Self, TooManyExceptionEdges> {
        let mut graph = Graph::default();
        graph.compute(code, pool, blocks)?;
        Ok(graph)
    }

    /// Replaces the graph with that of other blocks, reusing the memory.
    ///
    /// # Errors
    /// The errors of [`Graph::of`]; the graph is then unusable until it is computed again.
    pub fn compute(
        &mut self,
        code: &Code<'_>,
        pool: &ConstantPool<'_>,
        blocks: &Blocks,
    ) -> Result<(), TooManyExceptionEdges> {
        self.seen.reset(blocks.len());
        self.add_normal_edges(code, pool, blocks);
        self.add_exceptional_edges(code, blocks)?;
        self.handlers.clear();
        self.handlers.extend(code.handlers.iter().filter_map(|h| blocks.containing(h.handler)));
        for entries in [&mut self.handlers, &mut self.subroutines] {
            entries.sort_unstable();
            entries.dedup();
        }
        Ok(())
    }

    fn add_normal_edges(&mut self, code: &Code<'_>, pool: &ConstantPool<'_>, blocks: &Blocks) {
        let Graph { normal, subroutines, throwing, seen, .. } = self;
        normal.clear();
        subroutines.clear();
        throwing.clear();
        normal.starts.push(0);
        for (id, block) in (0..).zip(blocks.iter()) {
            seen.next_list();
            let mut add = |target: Option<BlockId>| {
                if let Some(target) = target.filter(|&t| seen.insert(t)) {
                    normal.targets.push(target);
                }
            };
            for instruction in block.instructions(code) {
                if !code.handlers.is_empty() && may_throw(&instruction, pool) {
                    throwing.push(ThrowSite { bci: instruction.bci, block: id, caught: false });
                }
                // The next block first: then depth-first orders follow the code.
                if instruction.end() == block.end && !opcode::ends_flow(instruction.opcode) {
                    add(blocks.containing(block.end));
                }
                instruction.for_each_target(|bci| {
                    let target = blocks.containing(bci);
                    add(target);
                    if opcode::is_subroutine_call(instruction.opcode) {
                        subroutines.extend(target);
                    }
                });
            }
            normal.starts.push(normal.targets.len() as u32);
        }
    }

    fn add_exceptional_edges(
        &mut self,
        code: &Code<'_>,
        blocks: &Blocks,
    ) -> Result<(), TooManyExceptionEdges> {
        let Graph { exceptional, throwing, pairs, seen, .. } = self;
        pairs.clear();
        let mut covered = 0;
        for entry in &code.handlers {
            let Some(target) = blocks.containing(entry.handler) else { continue };
            let from = throwing.partition_point(|t| t.bci < entry.start);
            let to = throwing.partition_point(|t| t.bci < entry.end);
            covered += to - from;
            if covered > PAIR_LIMIT {
                return Err(TooManyExceptionEdges {
                    handlers: code.handlers.len(),
                    throwing: throwing.len(),
                });
            }
            for source in throwing[from..to].iter_mut().filter(|t| !t.caught) {
                source.caught = entry.catch_type == 0;
                if pairs.last() != Some(&(source.block, target)) {
                    pairs.push((source.block, target));
                }
            }
        }
        exceptional.assign(blocks.len(), pairs.iter().copied());
        exceptional.deduplicate(seen);
        Ok(())
    }

    /// Number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.normal.starts.len().saturating_sub(1)
    }

    /// Whether the graph was never computed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The blocks that may follow without an exception, each once: the next block in the code
    /// first, then jump targets in their order.
    #[inline]
    pub fn normal_successors(&self, block: BlockId) -> &[BlockId] {
        self.normal.of(block)
    }

    /// The entries of handlers that may catch an exception of the block, each once, in the order of
    /// the exception table. A normal successor may be among them.
    #[inline]
    pub fn exceptional_successors(&self, block: BlockId) -> &[BlockId] {
        self.exceptional.of(block)
    }

    /// All successors, the normal ones first.
    pub fn successors(&self, block: BlockId) -> impl DoubleEndedIterator<Item = BlockId> + Clone + '_ {
        self.normal_successors(block).iter().chain(self.exceptional_successors(block)).copied()
    }

    /// All edges, by source.
    pub(crate) fn edges(&self) -> impl DoubleEndedIterator<Item = (BlockId, BlockId)> + Clone + '_ {
        (0..self.len() as BlockId).flat_map(|from| self.successors(from).map(move |to| (from, to)))
    }

    /// The blocks at which exception handlers begin, ascending.
    pub fn handler_entries(&self) -> &[BlockId] {
        &self.handlers
    }

    /// The blocks at which subroutines begin (targets of `jsr`), ascending.
    pub fn subroutine_entries(&self) -> &[BlockId] {
        &self.subroutines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use cct_classfile::opcode::*;
    use cct_tables::BlockRule;

    fn graph(fixture: &Fixture) -> Graph {
        fixture.with(|code, pool| Graph::of(code, pool, &Blocks::of(code, pool, BlockRule::Default)).unwrap())
    }

    #[test]
    fn paper_figure_5() {
        let graph = graph(&paper_method());
        let successors: Vec<_> = (0..4).map(|b| graph.successors(b).collect::<Vec<_>>()).collect();
        assert_eq!(successors, [vec![1], vec![2, 3], vec![1], vec![]]);
    }

    #[test]
    fn handlers_after_a_catch_all_are_not_reached() {
        // 0: idiv; return | 1: nop; athrow | 2: nop; athrow | 3: nop; athrow
        let tail = [op(&[NOP]), op(&[ATHROW])];
        let ops = [&[op(&[IDIV]), op(&[RETURN])][..], &tail, &tail, &tail].concat();
        let edges = |handlers: &[_]| graph(&Fixture::new(&ops, handlers)).exceptional_successors(0).to_vec();
        assert_eq!(edges(&[(0, 1, 2, CLASS), (0, 1, 4, 0), (0, 1, 6, CLASS)]), [1, 2]);
        assert_eq!(
            edges(&[(0, 1, 6, CLASS), (0, 1, 2, CLASS), (0, 1, 6, 0)]),
            [3, 1],
            "each once, in the table's order"
        );
        assert_eq!(edges(&[(1, 2, 2, 0)]), [], "return does not throw");
    }

    #[test]
    fn jsr_at_the_end_of_the_code_has_only_its_subroutine() {
        let graph =
            graph(&Fixture::new(&[Op::Jump(GOTO, 3), op(&[POP]), op(&[RETURN]), Op::Jump(JSR, 1)], &[]));
        assert_eq!(graph.normal_successors(2), [1]);
        assert_eq!(graph.subroutine_entries(), [1]);
    }

    #[test]
    fn edges_are_those_of_the_instructions() {
        arbtest::arbtest(|u| {
            let fixture = any_method(u)?;
            fixture.with(|code, pool| {
                for rule in [BlockRule::Default, BlockRule::Precise] {
                    let blocks = Blocks::of(code, pool, rule);
                    let graph = Graph::of(code, pool, &blocks).unwrap();
                    assert_eq!(graph.len(), blocks.len());
                    for (id, block) in (0..).zip(blocks.iter()) {
                        let (mut normal, mut exceptional) = (Vec::new(), Vec::new());
                        for i in block.instructions(code) {
                            normal.extend(next_instructions(code, &i).into_iter().filter(|&to| {
                                // Within the block, the next instruction is no edge; any other one
                                // is.
                                to != i.end() || to == block.end || i.target() == Some(to)
                            }));
                            exceptional.extend(handlers_of(code, pool, &i));
                        }
                        for (mut expected, found) in [
                            (normal, graph.normal_successors(id)),
                            (exceptional, graph.exceptional_successors(id)),
                        ] {
                            let mut found: Vec<_> = found.iter().map(|&b| blocks[b as usize].start).collect();
                            found.sort_unstable();
                            expected.sort_unstable();
                            expected.dedup();
                            assert_eq!(found, expected);
                        }
                    }
                }
            });
            Ok(())
        });
    }

    #[test]
    fn a_hostile_exception_table_is_an_error() {
        let n = 40_000;
        let mut ops = vec![op(&[IDIV]); n];
        ops.push(op(&[RETURN]));
        let handlers: Vec<_> = (0..1000).map(|i| (i, n, n - i, CLASS)).collect();
        Fixture::new(&ops, &handlers).with(|code, pool| {
            let blocks = Blocks::of(code, pool, BlockRule::Default);
            let error = Graph::of(code, pool, &blocks).unwrap_err();
            assert_eq!(error, TooManyExceptionEdges { handlers: 1000, throwing: n });
        });
    }
}
