//! The writer of a body, with which passes insert code.

use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_classfile::{Bci, Error, ErrorKind, Instruction, Result, opcode};
use cct_columns::Column;
use cct_index::mid::Mid;
use cct_index::positions::Form;
use cct_jdk::convention::EXTENSION_SLOTS;
use cct_jdk::helpers::Helper;

use super::MethodContext;
use crate::carrier::{Context, Emitter};
use crate::markers::Weaver;

/// Locals that the instrumentation adds, in one contiguous range.
#[derive(Debug, Clone, Copy)]
pub struct Locals {
    /// Slot of the first added local; all locals of the original from here on move up.
    pub at: u16,
    /// The body's node.
    pub node: u16,
    /// The context that the thread carried on entry; for a body under the original signature.
    pub saved: u16,
    /// The thread that was current on entry; for a body under the original signature.
    pub thread: u16,
    /// Bytecodes that are not yet in the node, if a pass needs a local for them.
    pub pending: Option<u16>,
    /// The first of the objects that markers keep.
    pub first_token: u16,
    /// Number of objects that markers keep.
    pub tokens: u16,
}

impl Locals {
    /// Maximum number of slots of the added locals except the markers'. The extended form's
    /// parameters and the locals after them need no more.
    pub const MOST: u16 = 6;

    /// The first of the optional locals: `pending`, otherwise the first of the markers.
    pub fn optional(&self) -> Option<u16> {
        self.pending.or((self.tokens > 0).then_some(self.first_token))
    }
}

/// The writer of one body.
pub struct BodyWriter<'w, 'c, 'a> {
    /// The writer of code that handles contexts.
    pub emitter: Emitter<'w, 'c, 'a>,
    /// The edits of the code.
    pub edit: CodeEdit<'w, 'a>,
    /// The method.
    pub method: &'w MethodContext<'w, 'a>,
    /// The body's signature.
    pub form: Form,
    /// The method's id; `None` if the body is not recorded.
    pub mid: Option<Mid>,
    /// The added locals.
    pub locals: Locals,
    /// The context that the body passes to its callees; before the prologue is written, the
    /// incoming one.
    pub context: Context,
    /// The markers of the class, if the method has some.
    pub markers: Option<&'w mut dyn Weaver>,
    /// The code that markers run when an exception leaves the method.
    pub thrown: Option<Asm>,
}

impl<'a> BodyWriter<'_, '_, 'a> {
    /// The local with the thread that carries the context to callees, if the body keeps it in a
    /// local.
    pub fn thread(&self) -> Option<u16> {
        (self.form == Form::Original && self.method.holds_thread).then_some(self.locals.thread)
    }

    /// Pushes the context for the callee at the call site at `bci`, the `site`-th of the body.
    ///
    /// # Errors
    /// If the class has no room for the constants, as for all methods here.
    pub fn push_context(&mut self, asm: &mut Asm, site: usize, bci: Bci) -> Result<()> {
        self.emitter.push_context(asm, self.context, self.method.sites, site, bci)
    }

    /// Adds one to a column of the body's node. Writes nothing if the body has no node.
    pub fn count(&mut self, asm: &mut Asm, column: Column) -> Result<()> {
        let method = self.method;
        let place = method.columns.iter().position(|other| *other == column);
        let (Context::Node(_), Some(place)) = (self.context, place) else { return Ok(()) };
        self.emitter.push_slot(asm, self.context, method.sites, method.first_column + place);
        self.emitter.mid(asm, Mid::of_column(column.name().as_bytes()))?;
        self.emitter.helper(asm, Helper::Column)
    }

    /// Writes the invocation at `bci` with the extended form as callee.
    pub fn invoke_extended(&mut self, asm: &mut Asm, bci: Bci) -> Result<()> {
        let instruction = self.instruction(bci)?;
        let index = instruction.pool_index().ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
        let extended = self.emitter.constants.extended_reference(index, self.emitter.edit)?;
        if instruction.opcode == opcode::INVOKEINTERFACE {
            // The plan extends no method with more than 252 argument slots.
            asm.invoke_interface(extended, instruction.bytes[3].saturating_add(EXTENSION_SLOTS as u8));
        } else {
            asm.indexed(instruction.opcode, extended);
        }
        Ok(())
    }

    /// Inserts code after the instruction at `bci`.
    pub fn after(&mut self, bci: Bci, asm: &Asm) -> Result<()> {
        let instruction = self.instruction(bci)?;
        self.edit.after(&instruction, asm);
        Ok(())
    }

    /// Inserts code before each return.
    pub fn before_returns(&mut self, asm: &Asm) {
        let code = self.method.code;
        for instruction in code.instructions().filter(|i| opcode::is_return(i.opcode)) {
            self.edit.before(instruction.bci, asm);
        }
    }

    /// Turns the incoming context, in local `incoming`, into the one for callees.
    pub fn hand_on(&self, asm: &mut Asm, incoming: u16) -> Context {
        let node = self.locals.node;
        if incoming != node {
            asm.load(Kind::Long, incoming).store(Kind::Long, node);
        }
        Context::PassedThrough(node)
    }

    fn instruction(&self, bci: Bci) -> Result<Instruction<'a>> {
        self.method.code.instruction_at(bci).ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))
    }
}
