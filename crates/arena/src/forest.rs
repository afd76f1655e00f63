//! The trees in the memory, copied.

use rustc_hash::{FxHashMap, FxHashSet};

use cct_index::mid::Mid;
use cct_profile::{Tree, TreeBuilder, TreeTooLarge};

use crate::layout::{header, node, record};
use crate::memory::Memory;
use crate::rows::{Callees, Rows};

/// A fault in the memory: a tree could not be read completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// An address outside the memory.
    Astray,
    /// A node that can be reached in two ways, or from where it does not belong.
    Tangled,
    /// Impossible counts of a region.
    Negative,
}

/// Counts of a context.
#[derive(Debug, Clone, Copy)]
struct ContextCounts {
    mid: u64,
    /// The bytecode index of the call in the caller, where call sites are distinguished.
    site: Option<u16>,
    calls: i64,
    bytecodes: i64,
    /// Indices of the first child and the next sibling; 0, which is the root's, for none.
    first_child: u32,
    next: u32,
}

impl ContextCounts {
    /// A root, whose counts mean nothing.
    const ROOT: ContextCounts =
        ContextCounts { mid: 0, site: None, calls: 0, bytecodes: 0, first_child: 0, next: 0 };
}

/// A copied tree. Its counts may have those of another tree subtracted.
#[derive(Debug)]
pub struct TreeCopy {
    nodes: Vec<ContextCounts>,
}

/// A tree's record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'m> {
    memory: &'m Memory,
    /// The record's address.
    pub address: u64,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory of {} bytes", self.bytes())
    }
}

/// The records of all trees, in the order of their creation.
pub fn records(memory: &Memory) -> (Vec<Record<'_>>, Option<Fault>) {
    let mut records = chain(memory, memory.header(header::NEWEST), record::NEXT_TREE);
    records.0.reverse();
    records
}

/// The records of a linked list.
fn chain(memory: &Memory, first: u64, next: u64) -> (Vec<Record<'_>>, Option<Fault>) {
    let mut seen = FxHashSet::default();
    let mut records = Vec::new();
    let mut address = first;
    while address != 0 {
        let record = Record { memory, address };
        let Some(following) = record.get(next) else { return (records, Some(Fault::Astray)) };
        if !seen.insert(address) {
            return (records, Some(Fault::Tangled));
        }
        records.push(record);
        address = following;
    }
    (records, None)
}

impl<'m> Record<'m> {
    /// The record's word at an offset.
    pub fn get(self, offset: u64) -> Option<u64> {
        self.memory.word(self.address.checked_add(offset)?)
    }

    /// The memory that holds the record.
    pub fn memory(self) -> &'m Memory {
        self.memory
    }

    /// Records of the tree's regions.
    pub fn regions(self) -> (Vec<Record<'m>>, Option<Fault>) {
        match self.get(record::REGIONS) {
            Some(first) => chain(self.memory, first, record::REGIONS),
            None => (Vec::new(), Some(Fault::Astray)),
        }
    }
}

/// Budget of nodes to copy: as many as the memory has room for. In sound memory each node is copied
/// once.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    copied: u64,
    room: u64,
}

impl Budget {
    /// Takes one node from the budget; false if it is exhausted.
    fn take(&mut self, memory: &Memory) -> bool {
        self.copied += 1;
        if self.copied > self.room {
            // The JVM may have grown its memory since.
            self.room = memory.bytes() / node::SMALLEST;
        }
        self.copied <= self.room
    }
}

impl TreeCopy {
    /// Copies a tree from the memory.
    pub fn of(of: Record<'_>, budget: &mut Budget) -> (TreeCopy, Option<Fault>) {
        let mut copied = TreeCopy { nodes: vec![ContextCounts::ROOT] };
        let fault = copied.fill(of, budget);
        (copied, fault)
    }

    fn fill(&mut self, of: Record<'_>, budget: &mut Budget) -> Option<Fault> {
        let memory = of.memory;
        let mut fault = None;
        let Some(root) = of.get(record::ROOT) else { return Some(Fault::Astray) };
        let mut open = vec![(root, 0_u32)];
        while let Some((address, place)) = open.pop() {
            match children(memory, address, budget) {
                Ok(children) => {
                    for (child, counted) in children {
                        open.push((child, self.push(place, counted)));
                    }
                }
                Err(e) => fault = fault.max(Some(e)),
            }
            if self.nodes.len() >= u32::MAX as usize {
                return Some(Fault::Tangled);
            }
        }
        let merged = of.get(record::MERGED);
        if let Some(merged) = merged
            && let Some(calls) = word(memory, merged, node::CALLS)
            && let Some(bytecodes) = word(memory, merged, node::BYTECODES)
        {
            if calls | bytecodes != 0 {
                let (calls, bytecodes) = (calls as i64, bytecodes as i64);
                self.push(
                    0,
                    ContextCounts { mid: node::MERGED_MID, calls, bytecodes, ..ContextCounts::ROOT },
                );
            }
        } else {
            fault = fault.max(Some(Fault::Astray));
        }
        fault
    }

    /// Adds a child; returns its index.
    fn push(&mut self, parent: u32, counted: ContextCounts) -> u32 {
        let place = self.nodes.len() as u32;
        let parent = &mut self.nodes[parent as usize];
        let next = std::mem::replace(&mut parent.first_child, place);
        self.nodes.push(ContextCounts { first_child: 0, next, ..counted });
        place
    }

    /// Indices of a node's children.
    fn children(&self, place: u32) -> impl Iterator<Item = u32> {
        let some = |place: u32| (place != 0).then_some(place);
        std::iter::successors(some(self.nodes[place as usize].first_child), move |&child| {
            some(self.nodes[child as usize].next)
        })
    }

    /// Adds the counts of another tree, context by context.
    pub fn add(&mut self, other: &TreeCopy) {
        let mut open = vec![(0, 0)];
        while let Some((from, to)) = open.pop() {
            let key = |node: &ContextCounts| (node.mid, node.site);
            let known: FxHashMap<(u64, Option<u16>), u32> =
                self.children(to).map(|child| (key(&self.nodes[child as usize]), child)).collect();
            for child in other.children(from) {
                let counted = other.nodes[child as usize];
                let place = match known.get(&key(&counted)) {
                    Some(&place) => {
                        let node = &mut self.nodes[place as usize];
                        node.calls = node.calls.wrapping_add(counted.calls);
                        node.bytecodes = node.bytecodes.wrapping_add(counted.bytecodes);
                        place
                    }
                    None => self.push(to, counted),
                };
                open.push((child, place));
            }
        }
    }

    /// Removes nodes without counts that lead to none with counts. Impossible counts are removed,
    /// and are a fault.
    pub fn prune(&mut self) -> Option<Fault> {
        let mut fault = None;
        for node in &mut self.nodes {
            if node.calls < 0 || node.bytecodes < 0 {
                fault = Some(Fault::Negative);
                (node.calls, node.bytecodes) = (0, 0);
            }
        }
        let mut keep = vec![false; self.nodes.len()];
        let mut parents = vec![0; self.nodes.len()];
        for place in 0..self.nodes.len() as u32 {
            for child in self.children(place) {
                parents[child as usize] = place;
            }
        }
        // Children follow their parents.
        for place in (1..self.nodes.len()).rev() {
            let node = self.nodes[place];
            keep[place] |= node.calls != 0 || node.bytecodes != 0;
            if keep[place] {
                keep[parents[place] as usize] = true;
            }
        }
        for place in 0..self.nodes.len() as u32 {
            let kept: Vec<u32> = self.children(place).filter(|&child| keep[child as usize]).collect();
            let mut first = 0;
            for &child in kept.iter().rev() {
                self.nodes[child as usize].next = first;
                first = child;
            }
            self.nodes[place as usize].first_child = first;
        }
        fault
    }

    /// Whether contexts were merged.
    pub fn has_merged(&self) -> bool {
        self.children(0).any(|child| self.nodes[child as usize].mid == node::MERGED_MID)
    }

    /// Whether there is no context.
    pub fn is_empty(&self) -> bool {
        self.nodes[0].first_child == 0
    }

    /// Adds the callees in all contexts.
    pub fn callees(&self, to: &mut Callees) {
        let mut open = vec![0];
        while let Some(place) = open.pop() {
            for child in self.children(place) {
                let ContextCounts { mid, site, .. } = self.nodes[child as usize];
                to.add(self.nodes[place as usize].mid, mid, site);
                open.push(child);
            }
        }
    }

    /// The tree in the profile's order, given the table of methods.
    ///
    /// # Errors
    /// Fails if the tree has more contexts than a profile can hold.
    pub fn tree(&self, rows: &Rows) -> Result<Tree, TreeTooLarge> {
        let mut builder = TreeBuilder::new();
        let sorted = |place: u32| {
            let mut children: Vec<(u32, u32)> = self
                .children(place)
                .filter_map(|child| {
                    let ContextCounts { mid, site, .. } = self.nodes[child as usize];
                    Some((rows.place(self.nodes[place as usize].mid, mid, site)?, child))
                })
                .collect();
            // The first one is taken first, so it goes on top.
            children.sort_unstable_by_key(|&child| std::cmp::Reverse(child));
            children
        };
        enum Step {
            Enter(u32, u32),
            Leave,
        }
        let enter = |(method, child)| Step::Enter(method, child);
        let mut steps: Vec<Step> = sorted(0).into_iter().map(enter).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave => builder.leave(),
                Step::Enter(method, place) => {
                    let node = &self.nodes[place as usize];
                    builder.enter(method, node.calls as u64, node.bytecodes as u64)?;
                    steps.push(Step::Leave);
                    steps.extend(sorted(place).into_iter().map(enter));
                }
            }
        }
        Ok(builder.finish())
    }
}

/// A node's address and counts.
type Child = (u64, ContextCounts);

/// The children of the node at an address, the newest first; all of them or an error. The last one
/// must name that node as its parent. This detects links into another node's children, and cycles.
fn children(memory: &Memory, parent: u64, budget: &mut Budget) -> Result<Vec<Child>, Fault> {
    let get = |address, offset| word(memory, address, offset).ok_or(Fault::Astray);
    let mut children = Vec::new();
    let mut child = get(parent, node::FIRST_CHILD)? & node::ADDRESS;
    while child != 0 {
        if !budget.take(memory) {
            return Err(Fault::Tangled);
        }
        let (mid, calls) = (get(child, node::MID)?, get(child, node::CALLS)?);
        let counted = ContextCounts {
            mid,
            // No call entered merged contexts, whatever damaged memory says.
            site: node::site(get(child, node::FIRST_CHILD)?).filter(|_| mid != node::MERGED_MID),
            calls: calls as i64,
            bytecodes: Mid(mid).bytecodes(calls, get(child, node::BYTECODES)?) as i64,
            ..ContextCounts::ROOT
        };
        children.push((child, counted));
        let next = get(child, node::NEXT)?;
        if next & node::LAST != 0 {
            return if next == parent.wrapping_neg() | node::LAST {
                Ok(children)
            } else {
                Err(Fault::Tangled)
            };
        }
        child = next.wrapping_neg();
    }
    if children.is_empty() { Ok(children) } else { Err(Fault::Astray) }
}

fn word(memory: &Memory, address: u64, offset: u64) -> Option<u64> {
    memory.word(address.checked_add(offset)?)
}
