//! Counts of a recorded body: its executed bytecodes, exactly or block by block (JP 4), or their
//! cost (CCCP 5.2), and activation counters (JP 5.2).

mod activation;
mod blocks;
mod exact;

use std::cell::RefCell;

use cct_classfile::edit::Asm;
use cct_classfile::{Error, ErrorKind, Result};
use cct_flow::{ActivationPlan, ActivationPlanner, Blocks, CountPlan, CountPlanner};
use cct_tables::BlockRule;

use crate::pass::{BodyWriter, Entry, Guard, Level, LocalsNeeded, MethodContext, MethodPass, Pass};

pub use blocks::weighed;
pub use exact::exact_plan;

thread_local! {
    // One per worker: analyses reuse their memory.
    static PLANNERS: RefCell<Planners> = RefCell::default();
}

#[derive(Default)]
struct Planners {
    activation: ActivationPlanner,
    counts: CountPlanner,
}

/// The pass that counts bytecodes.
pub struct Counts;

impl Pass for Counts {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        let counts_nothing = level.blocks.is_none() && !method.settings.activation;
        if !method.recorded || counts_nothing {
            return Ok(None);
        }
        PLANNERS.with_borrow_mut(|planners| Ok(Some(Box::new(planners.plan(method, level.blocks)?) as _)))
    }
}

impl Planners {
    fn plan(&mut self, method: &MethodContext<'_, '_>, rule: Option<BlockRule>) -> Result<MethodCounts> {
        let MethodContext { class, own, member, code, settings, .. } = *method;
        let (pool, model) = (&class.pool, settings.cost_model);
        let too_many = |_| Error::new(ErrorKind::TooMany("exception edges to analyse the method"));
        let activation = if settings.activation {
            Some(self.activation.plan(code, pool).map_err(too_many)?)
        } else {
            None
        };
        let bytecodes = match rule {
            None => Bytecodes::Uncounted,
            Some(BlockRule::Exact) => {
                match exact_plan(class, own, member, code, activation.as_ref(), model, &mut self.counts) {
                    Some(plan) => Bytecodes::Exact(plan),
                    // The same counts as the exact plan, with more updates.
                    None => Bytecodes::Blocks(weighed(code, pool, BlockRule::Precise, model)),
                }
            }
            Some(rule) => Bytecodes::Blocks(weighed(code, pool, rule, model)),
        };
        Ok(MethodCounts {
            bytecodes,
            activation,
            entry_cost: model.map_or(0, |model| model.entry(code.length())),
            entry_is_target: method.entry_is_target,
        })
    }
}

/// The way in which a method's bytecodes are counted.
enum Bytecodes {
    /// Not at all.
    Uncounted,
    /// Block by block, each at its start.
    Blocks(Blocks),
    /// Exactly, with few updates.
    Exact(CountPlan),
}

/// The counts of one method and their locations.
struct MethodCounts {
    bytecodes: Bytecodes,
    /// Updates of the activation counter, if there are such counters. The first is the entry's.
    activation: Option<ActivationPlan>,
    /// Cost of entering the method, in addition to its bytecodes.
    entry_cost: u32,
    entry_is_target: bool,
}

impl MethodPass for MethodCounts {
    fn locals(&self) -> LocalsNeeded {
        let pending = matches!(&self.bytecodes, Bytecodes::Exact(plan) if plan.uses_local());
        LocalsNeeded { pending, ..LocalsNeeded::default() }
    }

    fn entry(&self) -> Entry<'_> {
        let count = match &self.bytecodes {
            Bytecodes::Blocks(blocks) if !self.entry_is_target => blocks[0].cost + self.entry_cost,
            Bytecodes::Exact(plan) => plan.entry,
            Bytecodes::Blocks(_) => self.entry_cost,
            Bytecodes::Uncounted => 0,
        };
        Entry { count, update: self.activation.as_ref().map(|activation| &activation.points[0]) }
    }

    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        if let Bytecodes::Exact(plan) = &self.bytecodes {
            exact::insert(body, plan)?;
        }
        if let Some(plan) = &self.activation {
            activation::insert(body, plan, |bci| self.block_cost(bci))?;
        }
        if let Bytecodes::Blocks(blocks) = &self.bytecodes {
            let counted_elsewhere = |bci| {
                let on_entry = bci == 0 && !self.entry_is_target;
                on_entry || self.activation.as_ref().is_some_and(|plan| activation::is_loop(plan, bci))
            };
            blocks::insert(body, blocks, counted_elsewhere)?;
        }
        Ok(())
    }

    fn guard(&self, body: &BodyWriter<'_, '_, '_>) -> Guard<'_> {
        match &self.bytecodes {
            Bytecodes::Exact(plan) if body.locals.pending.is_some() && !plan.guarded.is_empty() => {
                Guard::Ranges(&plan.guarded)
            }
            _ => Guard::Nowhere,
        }
    }

    fn leave(&self, body: &mut BodyWriter<'_, '_, '_>, handler: &mut Asm) -> Result<()> {
        exact::count_pending(body, handler)
    }
}

impl MethodCounts {
    /// The cost of the block that starts at `bci`; 0 if no block does.
    fn block_cost(&self, bci: u32) -> u32 {
        let Bytecodes::Blocks(blocks) = &self.bytecodes else { return 0 };
        blocks.iter().find(|b| b.start == bci).map_or(0, |b| b.cost)
    }
}
