//! The plans of all passes for one method.

use cct_classfile::Result;
use cct_events::structure;

use crate::pass::{Entry, Level, MethodContext, MethodPass};
use crate::passes::PASSES;

/// The plans of the passes that insert code into the bodies of one method, in the order of
/// [`PASSES`].
pub struct Plans<'m>(Vec<Box<dyn MethodPass + 'm>>);

impl<'m> Plans<'m> {
    /// Asks each pass for its plan of the method at this level.
    ///
    /// # Errors
    /// Fails if the code cannot be analysed.
    pub fn of(method: &'m MethodContext<'m, '_>, level: &Level) -> Result<Plans<'m>> {
        let plans = PASSES.iter().filter_map(|pass| pass.plan(method, level).transpose());
        plans.collect::<Result<_>>().map(Plans)
    }

    /// The counts on entry, added up over all passes; the update is that of the first pass with
    /// one.
    pub fn entry(&self) -> Entry<'_> {
        let entries = self.passes().map(MethodPass::entry);
        entries.fold(Entry::default(), |all, entry| Entry {
            count: all.count + entry.count,
            update: all.update.or(entry.update),
        })
    }

    /// Adds the facts that the passes know about the method to the static side of a trace.
    ///
    /// # Errors
    /// Fails if a constant that the code names is not in the constant pool.
    pub fn describe(&self, method: &mut structure::Method) -> Result<()> {
        self.passes().try_for_each(|pass| pass.describe(method))
    }

    /// The plan of each pass that inserts code, in the order of [`PASSES`].
    pub fn passes(&self) -> impl Iterator<Item = &(dyn MethodPass + 'm)> {
        self.0.iter().map(|pass| &**pass)
    }
}
