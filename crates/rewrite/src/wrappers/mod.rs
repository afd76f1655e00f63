//! Forwarders between the two signatures: native-to-bytecode (N2B), bytecode-to-native (B2N), and
//! redispatching ones.
//!
//! A wrapper calls its twin with `invokespecial`: virtual dispatch would lead a super call back to
//! its origin. Redispatching forms call virtually on purpose, so that any override wins.

mod debug_tables;
mod makes;
mod natives;
mod originals;
mod runtime;
mod signatures;
mod straight;

use cct_classfile::descriptor::FieldType;
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::frames::Signature;
use cct_classfile::{Index, Member, Result, access, constant_pool::tag, opcode};
use cct_events::Event;
use cct_jdk::convention;
use cct_jdk::runtime_method::RuntimeMethod;

use crate::carrier::Emitter;
use crate::pcc::WrappersPart;

pub use debug_tables::DebugTables;
pub use natives::{Below, bytecode_to_native, in_place_of_native};
pub use originals::{
    bypassed_original, counted_original, counted_original_that_makes, stored_original, traced_original,
};
pub use runtime::{call_for_the_runtime, forwarder, helper, query, switch};
pub use signatures::{native_to_bytecode, redispatch};

/// A method from the view of its wrapper.
#[derive(Debug, Clone, Copy)]
pub struct Target<'t, 'a> {
    /// Flags of the original.
    pub access_flags: u16,
    /// Index of the name.
    pub name_index: Index,
    /// The original signature.
    pub signature: &'t Signature<'a>,
    /// Index of the original descriptor.
    pub descriptor_index: Index,
    /// Index of the extended descriptor.
    pub extended_index: Index,
    /// The method's number in a trace, if the run records events instead of counts.
    pub traced: Option<u32>,
    /// The method's part in values, if values represent contexts.
    pub values: Option<WrappersPart>,
}

impl<'t, 'a> Target<'t, 'a> {
    /// A declared method.
    pub fn of(member: &Member<'_>, signature: &'t Signature<'a>, extended_index: Index) -> Self {
        Target {
            access_flags: member.access_flags,
            name_index: member.name_index,
            signature,
            descriptor_index: member.descriptor_index,
            extended_index,
            traced: None,
            values: None,
        }
    }

    /// The target whose twin has a different name.
    pub fn named(self, name_index: Index) -> Self {
        Target { name_index, ..self }
    }

    /// Writes an event of the method. The slot's local holds the record.
    fn event(&self, emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, event: Event) -> Result<()> {
        emitter.event(asm, self.signature.argument_slots(), None, event)
    }

    fn is_static(&self) -> bool {
        self.access_flags & access::STATIC != 0
    }

    /// Pushes `this` and the arguments.
    fn push_arguments(&self, asm: &mut Asm) {
        self.push_arguments_but(asm, None);
    }

    /// Pushes `this` and the arguments. A static method with descriptor `(I)I` changes those of
    /// type `int`.
    fn push_arguments_but(&self, asm: &mut Asm, change: Option<Index>) {
        let mut slot = 0;
        if !self.is_static() {
            asm.load(Kind::Reference, 0);
            slot = 1;
        }
        for t in self.signature.descriptor.arguments() {
            if let Some(kind) = Kind::of(t) {
                asm.load(kind, slot);
            }
            if let (Some(change), FieldType::Base(b'I')) = (change, t) {
                asm.indexed(opcode::INVOKESTATIC, change);
            }
            slot += t.slots();
        }
    }

    /// Pops a value into the argument of this number.
    fn store_argument(&self, asm: &mut Asm, number: usize) {
        let mut slot = u16::from(!self.is_static());
        for (i, t) in self.signature.descriptor.arguments().enumerate() {
            if let (true, Some(kind)) = (i == number, Kind::of(t)) {
                asm.store(kind, slot);
            }
            slot += t.slots();
        }
    }

    /// Invokes the twin in this class without dispatch.
    fn invoke_special(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        descriptor: Index,
    ) -> Result<()> {
        let op = if self.is_static() { opcode::INVOKESTATIC } else { opcode::INVOKESPECIAL };
        let index = self.reference(emitter, descriptor)?;
        asm.indexed(op, index);
        Ok(())
    }

    /// Calls a runtime method that returns this method's result.
    fn result_of(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        method: RuntimeMethod,
    ) -> Result<()> {
        emitter.runtime(asm, method)?;
        if let (true, FieldType::Class(class) | FieldType::Array(class)) =
            (method.gives_any(), self.signature.descriptor.result)
            && class != convention::OBJECT
        {
            let class = emitter.edit.additions.class_named(class)?;
            asm.indexed(opcode::CHECKCAST, class);
        }
        Ok(())
    }

    fn reference(&self, emitter: &mut Emitter<'_, '_, '_>, descriptor: Index) -> Result<Index> {
        let class = emitter.edit.class();
        let tag = if class.is_interface() { tag::INTERFACE_METHODREF } else { tag::METHODREF };
        emitter.edit.additions.member_ref(tag, class.this_class, self.name_index, descriptor)
    }

    fn result(&self) -> Option<Kind> {
        Kind::of(self.signature.descriptor.result)
    }

    fn result_slots(&self) -> u16 {
        self.signature.descriptor.result.slots()
    }
}
