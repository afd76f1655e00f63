//! The plans of all passes for one method.

use cct_classfile::Result;
use cct_events::structure;

use crate::pass::{Entry, Level, MethodContext, MethodPass};
use crate::passes::PASSES;

/// The plans of the passes for the bodies of one method.
pub struct Plans<'m>(Vec<Box<dyn MethodPass + 'm>>);

impl<'m> Plans<'m> {
    /// The plans of all passes at a level.
    ///
    /// # Errors
    /// If the code cannot be analysed.
    pub fn of(method: &'m MethodContext<'m, '_>, level: &Level) -> Result<Plans<'m>> {
        let plans = PASSES.iter().filter_map(|pass| pass.plan(method, level).transpose());
        plans.collect::<Result<_>>().map(Plans)
    }

    /// The sum of what all passes count on entry.
    pub fn entry(&self) -> Entry<'_> {
        let entries = self.passes().map(MethodPass::entry);
        entries.fold(Entry::default(), |all, entry| Entry {
            count: all.count + entry.count,
            update: all.update.or(entry.update),
        })
    }

    /// Adds what the passes know of the method to its static part of a trace.
    ///
    /// # Errors
    /// If a constant that the code names is not in the constant pool.
    pub fn describe(&self, method: &mut structure::Method) -> Result<()> {
        self.passes().try_for_each(|pass| pass.describe(method))
    }

    /// The passes that insert something, in their order.
    pub fn passes(&self) -> impl Iterator<Item = &(dyn MethodPass + 'm)> {
        self.0.iter().map(|pass| &**pass)
    }
}
