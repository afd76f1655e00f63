//! Execution counts of blocks, and of calls between methods, for all threads together.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::contexts::of_thread;
use crate::file::{Error, Trace};
use crate::found::TracedMethod;
use crate::program::Callee;
use crate::replay::{Oddities, Visitor};

/// Execution counts.
#[derive(Debug, Default)]
pub struct Executions {
    /// By method number: its entries, and the executions of each of its blocks.
    methods: FxHashMap<u32, Method>,
    /// By caller and callee. The caller is its index plus one; 0 for none.
    edges: FxHashMap<(u32, Callee), u64>,
    /// Bytecodes of blocks that were not executed because of exceptions.
    taken_back: u64,
}

/// Counts of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Method {
    /// Entries.
    pub calls: u64,
    /// Executions of its blocks.
    pub blocks: Vec<u64>,
}

impl Executions {
    /// Counts the executions of a trace; also returns its oddities.
    ///
    /// # Errors
    /// Fails if it cannot be read.
    pub fn of(trace: &Trace) -> Result<(Executions, Oddities), Error> {
        let threads = trace.threads.par_iter().map(|thread| {
            let (counts, oddities, _) = of_thread(trace, thread, Executions::default())?;
            Ok((counts, oddities))
        });
        threads.try_reduce(Default::default, |mut a, b: (Executions, Oddities)| {
            a.0.add(b.0);
            a.1.add(b.1);
            Ok(a)
        })
    }

    #[allow(clippy::iter_over_hash_type)] // Sums.
    pub(crate) fn add(&mut self, other: Executions) {
        for (number, counts) in other.methods {
            let of = self.methods.entry(number).or_default();
            of.calls += counts.calls;
            of.blocks.resize(of.blocks.len().max(counts.blocks.len()), 0);
            of.blocks.iter_mut().zip(counts.blocks).for_each(|(sum, count)| *sum += count);
        }
        for (edge, calls) in other.edges {
            *self.edges.entry(edge).or_default() += calls;
        }
        self.taken_back += other.taken_back;
    }

    /// The counts of a method.
    pub fn of_method(&self, number: u32) -> Option<&Method> {
        self.methods.get(&number)
    }

    /// Adds executions of a method's block.
    #[cfg(test)]
    pub(crate) fn began(&mut self, number: u32, block: usize, times: u64) {
        let blocks = &mut self.methods.entry(number).or_default().blocks;
        blocks.resize(blocks.len().max(block + 1), 0);
        blocks[block] += times;
    }

    /// Calls, by caller and callee, in order.
    pub fn calls(&self) -> Vec<(Option<Callee>, Callee, u64)> {
        let mut calls: Vec<_> = self
            .edges
            .iter()
            .map(|(&(caller, callee), &calls)| (caller.checked_sub(1).map(Callee), callee, calls))
            .collect();
        calls.sort_unstable();
        calls
    }

    /// Bytecodes of blocks that were not executed because of exceptions.
    pub fn taken_back(&self) -> u64 {
        self.taken_back
    }
}

impl Visitor for Executions {
    fn enter(&mut self, caller: u32, callee: Callee, method: Option<TracedMethod<'_>>) -> u32 {
        *self.edges.entry((caller, callee)).or_default() += 1;
        if let Some(found) = method {
            self.methods.entry(found.number()).or_default().calls += 1;
        }
        callee.0 + 1
    }

    fn block(&mut self, _: u32, method: TracedMethod<'_>, block: u32, _: u32) {
        let blocks = &mut self.methods.entry(method.number()).or_default().blocks;
        if blocks.len() <= block as usize {
            blocks.resize(method.method.blocks.len().max(block as usize + 1), 0);
        }
        blocks[block as usize] += 1;
    }

    fn bytecodes(&mut self, _: u32, _: u32) {}

    fn take_back(&mut self, _: u32, bytecodes: u32) {
        self.taken_back += u64::from(bytecodes);
    }
}
