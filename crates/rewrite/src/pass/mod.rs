//! The interface of the passes: the methods that a body calls, and the writer with which a pass
//! inserts code.
//!
//! [`body`](crate::body) writes each body of a method in these steps. At each step it calls the
//! passes in the order of [`PASSES`](crate::passes::PASSES):
//!
//! 1. [`Pass::plan`], once for a method: the plan of the pass for the method; `None` if the pass
//!    inserts nothing.
//! 2. [`MethodPass::locals`], [`MethodPass::entry`]: the locals and counts that the body provides
//!    for the pass.
//! 3. [`MethodPass::context`] and [`MethodPass::prologue`]: code that runs once on entry.
//! 4. [`MethodPass::insert`], then [`MethodPass::before_returns`]: code at the method's
//!    instructions.
//! 5. [`MethodPass::guard`] and [`MethodPass::leave`]: code that runs when an exception leaves the
//!    method.
//! 6. [`MethodPass::describe`], once for a method: the pass's part of the static side of a trace.
//!
//! A pass knows the method and this interface. It knows no other pass.

mod column;
mod method;
mod writer;

use cct_classfile::edit::Asm;
use cct_classfile::{Bci, Code, Result};
use cct_columns::Column;
use cct_events::structure;
use cct_flow::UpdatePoint;

use crate::carrier::Context;
use cct_settings::Settings;

pub use column::ColumnPass;
pub use method::{Level, MethodContext};
pub use writer::{BodyWriter, Locals};

/// One kind of instrumentation of method bodies.
pub trait Pass: Sync {
    /// The column that the pass counts in this code, if any. Nodes of the method then have a slot
    /// for it ([`BodyWriter::count`]). The column follows from settings and code alone, whether the
    /// method is recorded or not.
    fn column(&self, _settings: &Settings, _code: &Code<'_>) -> Option<Column> {
        None
    }

    /// Plans the code that the pass inserts into a method at this level; `None` if it inserts
    /// nothing.
    ///
    /// # Errors
    /// If the code cannot be analysed.
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>>;
}

/// The plan of one pass for the bodies of one method. Every step defaults to nothing.
pub trait MethodPass {
    /// The locals that the pass needs.
    fn locals(&self) -> LocalsNeeded {
        LocalsNeeded::default()
    }

    /// The counts that the pass adds when the method is entered.
    fn entry(&self) -> Entry<'_> {
        Entry::default()
    }

    /// Writes the part of the prologue that turns the context in local `incoming` into the body's
    /// own. Returns that context; `None` if the pass creates no contexts. At most one pass of a
    /// method creates contexts.
    ///
    /// # Errors
    /// If the class has no room for the constants, as for all steps.
    fn context(
        &self,
        _body: &mut BodyWriter<'_, '_, '_>,
        _prologue: &mut Asm,
        _incoming: u16,
        _entry: Entry<'_>,
    ) -> Result<Option<Context>> {
        Ok(None)
    }

    /// Writes the rest of the prologue after the context, and its counterparts elsewhere in the
    /// body.
    fn prologue(&self, _body: &mut BodyWriter<'_, '_, '_>, _prologue: &mut Asm) -> Result<()> {
        Ok(())
    }

    /// Inserts code at instructions. Where two passes insert at one instruction, the code of the
    /// earlier pass runs first.
    fn insert(&self, _body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        Ok(())
    }

    /// Inserts code before returns, after the code from [`MethodPass::insert`].
    fn before_returns(&self, _body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        Ok(())
    }

    /// The part of the body in which an exception that leaves the method runs the code of
    /// [`MethodPass::leave`].
    fn guard(&self, _body: &BodyWriter<'_, '_, '_>) -> Guard<'_> {
        Guard::Nowhere
    }

    /// Writes the code that runs when an exception leaves the method. The exception is on the stack
    /// and stays there.
    fn leave(&self, _body: &mut BodyWriter<'_, '_, '_>, _handler: &mut Asm) -> Result<()> {
        Ok(())
    }

    /// Adds the facts that the pass knows about the method to the static side of a trace.
    ///
    /// # Errors
    /// If a constant that the code names is not in the constant pool.
    fn describe(&self, _method: &mut structure::Method) -> Result<()> {
        Ok(())
    }
}

/// The locals that a pass needs in addition to the context's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LocalsNeeded {
    /// Whether it needs the `int` for counts that are not yet in the node ([`Locals::pending`]).
    pub pending: bool,
    /// Number of objects that it keeps ([`Locals::first_token`]). `None` if the pass keeps no
    /// objects and accepts a body of any size.
    pub tokens: Option<u16>,
}

/// The counts that passes add on entry to a method.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry<'p> {
    /// Number of bytecodes, or their cost.
    pub count: u32,
    /// The update of the activation counter, if there are such counters.
    pub update: Option<&'p UpdatePoint>,
}

/// The parts of a body in which an exception that leaves the method runs a pass's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard<'p> {
    /// No part.
    Nowhere,
    /// These ranges, in code order: start inclusive, end exclusive.
    Ranges(&'p [(Bci, Bci)]),
    /// The whole body; the code runs before the thread gets back the context that it carried.
    Body,
    /// The part in which `this` is initialised; the code runs after the thread got back the context
    /// that it carried.
    Outermost,
}
