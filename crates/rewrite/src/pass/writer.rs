//! The writer with which passes insert code into a body.

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
    /// Slot of the first added local. The original's locals from this slot on move up.
    pub at: u16,
    /// Slot of the body's node. In a body without a node: slot of the incoming context.
    pub node: u16,
    /// Slot of the context that the thread carried on entry. Only bodies under the original
    /// signature use it.
    pub saved: u16,
    /// Slot of the thread that runs the body. Only bodies under the original signature use it.
    pub thread: u16,
    /// Slot of the count of bytecodes that are not yet in the node; `None` if no pass needs it.
    pub pending: Option<u16>,
    /// Slot of the first object that markers keep.
    pub first_token: u16,
    /// Number of objects that markers keep.
    pub tokens: u16,
}

impl Locals {
    /// Maximum number of slots of the added locals, without those of the markers. A body under the
    /// original signature needs most: node, saved context, thread and pending count.
    pub const MOST: u16 = 6;

    /// Slot of the first optional local: `pending`, otherwise the first one of the markers; `None`
    /// if there is none.
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
    /// The context that the body passes to its callees. Before the prologue is written, this is the
    /// incoming context.
    pub context: Context,
    /// The markers of the class; `None` if it cannot have any.
    pub markers: Option<&'w mut dyn Weaver>,
    /// The code that markers run when an exception leaves the method; `None` if there is none.
    pub thrown: Option<Asm>,
}

impl<'a> BodyWriter<'_, '_, 'a> {
    /// The local that holds the current thread; `None` if the body keeps it in no local. The thread
    /// carries the context to callees.
    pub fn thread(&self) -> Option<u16> {
        (self.form == Form::Original && self.method.holds_thread).then_some(self.locals.thread)
    }

    /// Pushes the context for the callee of the call at `bci`. `site` is the position of this call
    /// among the call sites of the body.
    ///
    /// # Errors
    /// Fails if the class has no room for the constants, as all methods here do.
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

    /// Writes the invocation at `bci`, but calls the callee's extended form.
    pub fn invoke_extended(&mut self, asm: &mut Asm, bci: Bci) -> Result<()> {
        let instruction = self.instruction(bci)?;
        let index = instruction.pool_index().ok_or_else(|| Error::new(ErrorKind::BadTarget(bci)))?;
        let extended = self.emitter.constants.extended_reference(index, self.emitter.edit)?;
        if instruction.opcode == opcode::INVOKEINTERFACE {
            // No overflow: a method with more than 252 argument slots has no extended form.
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

    /// Makes the incoming context, in local `incoming`, the context for callees. For bodies without
    /// a node.
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
