//! Measures for the metrics besides execution counts of blocks: branches, call sites, allocations,
//! and monitors.

use cct_events::structure::Name;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::executions::Executions;
use crate::found::TracedMethod;
use crate::program::Callee;
use crate::replay::{RequestedEvent, Type, Visitor};

/// The measures of a thread, and then of all.
#[derive(Debug, Default)]
pub struct Measures {
    /// Execution counts.
    pub executions: Executions,
    /// How often control went from a block to a different successor than the time before.
    pub changes: u64,
    /// By method and index of a call site.
    pub sites: FxHashMap<(u32, u32), Site>,
    /// Allocations.
    pub made: ObjectCounts,
    /// By identity: number of acquisitions of its monitor.
    pub locks: FxHashMap<u32, u64>,
    /// The last successor of each block.
    successors: FxHashMap<(u32, u32), u32>,
    /// The method and the block of each frame.
    frames: Vec<Option<(u32, u32)>>,
    /// The call site that calls the next entered method.
    calling: Option<(u32, u32)>,
    /// The call site of each frame.
    callers: Vec<Option<(u32, u32)>>,
}

/// The callees of a call site.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// Calls.
    pub calls: u64,
    /// How often the callee differed from the previous one.
    pub target_changes: u64,
    /// The callees. Looked up at each call: a trace may have millions.
    pub targets: FxHashSet<Callee>,
    /// Calls with a known class of the receiver.
    pub received: u64,
    /// How often the receiver's class differed from the previous one.
    pub receiver_changes: u64,
    /// The receivers' classes.
    pub receivers: FxHashSet<u32>,
    last_target: Option<Callee>,
    last_receiver: Option<u32>,
}

/// Allocated objects and arrays.
#[derive(Debug, Clone, Default)]
pub struct ObjectCounts {
    /// Classes, and descriptors of arrays, each once: arrays of many lengths may share a long name.
    names: Vec<Name>,
    places: FxHashMap<Name, u32>,
    /// Number of objects, by the index of the name and the number of elements.
    named: FxHashMap<(u32, u32), u64>,
    /// Number of objects, by the number of the name.
    pub numbered: FxHashMap<(u32, u32), u64>,
}

impl ObjectCounts {
    /// Adds objects of a class, or arrays with this many elements.
    fn add(&mut self, of: &[u8], length: u32, count: u64) {
        let place = match self.places.get(of) {
            Some(&place) => place,
            None => {
                let (name, place) = (Name::from(of), self.names.len() as u32);
                self.names.push(name.clone());
                self.places.insert(name, place);
                place
            }
        };
        *self.named.entry((place, length)).or_default() += count;
    }

    /// Class, or the descriptor of an array, number of elements, and number of objects; in no
    /// order.
    pub fn named(&self) -> impl Iterator<Item = (&[u8], u32, u64)> {
        self.named.iter().map(|(&(place, length), &count)| (&*self.names[place as usize], length, count))
    }
}

impl Measures {
    /// Adds the measures of another thread.
    #[allow(clippy::iter_over_hash_type)] // Sums.
    pub fn add(&mut self, other: Measures) {
        self.executions.add(other.executions);
        self.changes += other.changes;
        for (place, site) in other.sites {
            let of = self.sites.entry(place).or_default();
            of.calls += site.calls;
            of.target_changes += site.target_changes;
            of.received += site.received;
            of.receiver_changes += site.receiver_changes;
            of.targets.extend(site.targets);
            of.receivers.extend(site.receivers);
        }
        for (of, length, count) in other.made.named() {
            self.made.add(of, length, count);
        }
        for (of, count) in other.made.numbered {
            *self.made.numbered.entry(of).or_default() += count;
        }
        for (object, count) in other.locks {
            *self.locks.entry(object).or_default() += count;
        }
    }
}

impl Visitor for Measures {
    const WANTS_SITES: bool = true;

    fn enter(&mut self, caller: u32, callee: Callee, method: Option<TracedMethod<'_>>) -> u32 {
        let site = self.calling.take();
        if let Some(site) = site.and_then(|site| self.sites.get_mut(&site)) {
            site.calls += 1;
            if site.last_target != Some(callee) {
                site.target_changes += u64::from(site.last_target.is_some());
                site.last_target = Some(callee);
                site.targets.insert(callee);
            }
        }
        self.callers.push(site);
        self.frames.push(None);
        self.executions.enter(caller, callee, method)
    }

    fn leave(&mut self, node: u32, by_exception: bool) {
        self.frames.pop();
        self.callers.pop();
        self.executions.leave(node, by_exception);
    }

    fn block(&mut self, node: u32, method: TracedMethod<'_>, block: u32, bytecodes: u32) {
        if let Some(frame) = self.frames.last_mut() {
            let before = frame.replace((method.number(), block));
            if let Some(before) = before
                && let Some(last) = self.successors.insert(before, block)
                && ends_in_a_choice(method, before.1)
            {
                self.changes += u64::from(last != block);
            }
        }
        self.executions.block(node, method, block, bytecodes);
    }

    fn called(&mut self, caller: TracedMethod<'_>, site: usize, _: Callee) {
        let place = (caller.number(), site as u32);
        self.sites.entry(place).or_default();
        self.calling = Some(place);
    }

    fn bytecodes(&mut self, node: u32, bytecodes: u32) {
        self.executions.bytecodes(node, bytecodes);
    }

    fn take_back(&mut self, node: u32, bytecodes: u32) {
        self.executions.take_back(node, bytecodes);
    }

    fn receiver(&mut self, _: u32, class: u32) {
        let site = self.callers.last().copied().flatten().and_then(|site| self.sites.get_mut(&site));
        if let Some(site) = site {
            site.received += 1;
            if site.last_receiver != Some(class) {
                site.receiver_changes += u64::from(site.last_receiver.is_some());
                site.last_receiver = Some(class);
                site.receivers.insert(class);
            }
        }
    }

    fn noted(&mut self, _: u32, what: RequestedEvent<'_>) {
        match what {
            RequestedEvent::Made { of: Type::Numbered(class), count, length } => {
                *self.made.numbered.entry((class, length)).or_default() += u64::from(count);
            }
            RequestedEvent::Made { of: Type::Named(name), count, length } => {
                self.made.add(name, length, count.into());
            }
            RequestedEvent::Lock(object) | RequestedEvent::Locked(object) => {
                *self.locks.entry(object).or_default() += 1
            }
            RequestedEvent::Unlock(_) => {}
        }
    }
}

/// Whether a block ends in a conditional jump or a switch.
fn ends_in_a_choice(method: TracedMethod<'_>, block: u32) -> bool {
    method.method.blocks.get(block as usize).is_some_and(|block| block.metrics[5] > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An earlier version scanned all of them for each call: 16 million words of events are stored
    /// in 250 KB. This test would then take hours.
    #[test]
    fn a_call_site_of_many_targets_and_receivers() {
        const MANY: u32 = 1_000_000;
        let mut measures = Measures::default();
        measures.sites.entry((1, 0)).or_default();
        for number in 0..MANY {
            measures.calling = Some((1, 0));
            let node = measures.enter(0, Callee(number), None);
            measures.receiver(node, number);
            measures.leave(node, false);
        }
        let site = &measures.sites[&(1, 0)];
        assert_eq!((site.targets.len(), site.receivers.len()), (MANY as usize, MANY as usize));
    }
}
