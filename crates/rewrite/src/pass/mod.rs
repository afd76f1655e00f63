//! The contract of the passes: what a pass is asked, and what it gets to answer with.
//!
//! [`body`](crate::body) writes each body of a method in these steps, and asks the passes in the
//! order of [`PASSES`](crate::passes::PASSES) at each:
//!
//! 1. [`Pass::plan`], once for a method: what the pass inserts into it, if anything.
//! 2. [`MethodPass::locals`], [`MethodPass::entry`]: what the body provides for the pass.
//! 3. [`MethodPass::context`] and [`MethodPass::prologue`]: code that runs once on entry.
//! 4. [`MethodPass::insert`], then [`MethodPass::before_returns`]: code at the method's
//!    instructions.
//! 5. [`MethodPass::guard`] and [`MethodPass::leave`]: code on the way of an exception that leaves
//!    the method.
//! 6. [`MethodPass::describe`], once for a method: the pass's part of the static side of a trace.
//!
//! A pass knows the method and this contract. It knows no other pass.

mod method;
mod writer;

use cct_classfile::edit::Asm;
use cct_classfile::{Bci, Code, Result};
use cct_columns::Column;
use cct_events::structure;
use cct_flow::UpdatePoint;

use crate::carrier::Context;
use cct_settings::Settings;

pub use method::{Level, MethodContext};
pub use writer::{BodyWriter, Locals};

/// One kind of instrumentation of method bodies.
pub trait Pass: Sync {
    /// The column that the pass counts in this code, if any. Then nodes of the method have a slot
    /// for it ([`BodyWriter::count`]). It follows from settings and code alone, whether the method
    /// is recorded or not.
    fn column(&self, _settings: &Settings, _code: &Code<'_>) -> Option<Column> {
        None
    }

    /// Plans what the pass inserts into a method at this level; `None` if it inserts nothing.
    ///
    /// # Errors
    /// If the code cannot be analysed.
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>>;
}

/// What one pass inserts into the bodies of one method. Every step defaults to nothing.
pub trait MethodPass {
    /// The locals that the pass needs.
    fn locals(&self) -> LocalsNeeded {
        LocalsNeeded::default()
    }

    /// What the pass counts when the method is entered.
    fn entry(&self) -> Entry<'_> {
        Entry::default()
    }

    /// Writes the part of the prologue that turns the context in local `incoming` into the body's
    /// own. Returns that context; `None` if the pass makes no contexts. At most one pass of a
    /// method does.
    ///
    /// # Errors
    /// If the class has no room for the constants. So it is with all steps.
    fn context(
        &self,
        _body: &mut BodyWriter<'_, '_, '_>,
        _prologue: &mut Asm,
        _incoming: u16,
        _entry: Entry<'_>,
    ) -> Result<Option<Context>> {
        Ok(None)
    }

    /// Writes what follows the context in the prologue, and what belongs to it elsewhere in the
    /// body.
    fn prologue(&self, _body: &mut BodyWriter<'_, '_, '_>, _prologue: &mut Asm) -> Result<()> {
        Ok(())
    }

    /// Inserts code at instructions. Where two passes insert at one place, the code of the earlier
    /// pass runs first.
    fn insert(&self, _body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        Ok(())
    }

    /// Inserts code before returns, after all that [`MethodPass::insert`] has put there.
    fn before_returns(&self, _body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        Ok(())
    }

    /// From where an exception that leaves the method runs the code of [`MethodPass::leave`].
    fn guard(&self, _body: &BodyWriter<'_, '_, '_>) -> Guard<'_> {
        Guard::Nowhere
    }

    /// Writes what an exception runs on its way out. The exception is on the stack, and stays
    /// there.
    fn leave(&self, _body: &mut BodyWriter<'_, '_, '_>, _handler: &mut Asm) -> Result<()> {
        Ok(())
    }

    /// Adds what the pass knows of the method to the static side of a trace.
    ///
    /// # Errors
    /// If the constant pool has not what the code names.
    fn describe(&self, _method: &mut structure::Method) -> Result<()> {
        Ok(())
    }
}

/// The locals that a pass needs beside the context's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LocalsNeeded {
    /// Whether it needs the `int` for what is not in the node yet ([`Locals::pending`]).
    pub pending: bool,
    /// How many objects it keeps ([`Locals::first_token`]); `None` if none, and its body may be of
    /// any size.
    pub tokens: Option<u16>,
}

/// What passes count on entry of a method.
#[derive(Debug, Clone, Copy, Default)]
pub struct Entry<'p> {
    /// Bytecodes, or what they cost.
    pub count: u32,
    /// The update of the activation counter, if there are such counters.
    pub update: Option<&'p UpdatePoint>,
}

/// From which parts of a body an exception that leaves the method runs a pass's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard<'p> {
    /// From nowhere.
    Nowhere,
    /// From these ranges, in code order: start inclusive, end exclusive.
    Ranges(&'p [(Bci, Bci)]),
    /// From everywhere, before the thread gets back the context that it carried.
    Body,
    /// From where `this` is initialised, after the thread got back the context that it carried.
    Outermost,
}
