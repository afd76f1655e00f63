//! Allocation counting (CCCP 5.1): a probe after each instruction that allocates counts the new
//! objects by their type.
//!
//! The probe comes after the instruction, since one that fails (no memory, no such class, a
//! negative length) allocates nothing. The object of a `new` is still uninitialised then. It stays
//! on the stack below the probe, which does not touch it.

use cct_classfile::edit::Asm;
use cct_classfile::{Result, opcode};

use cct_index::mid::Mid;
use cct_jdk::helpers::Helper;

use crate::allocation::{AllocatedType, Allocation};
use crate::carrier::Context;
use crate::pass::{BodyWriter, Level, MethodContext, MethodPass, Pass};

/// The pass that counts allocations.
pub struct Allocations;

impl Pass for Allocations {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        if method.allocations.is_empty() || !level.objects || method.number.is_some() {
            return Ok(None);
        }
        // Slots of allocations follow those of calls.
        let plan = MethodAllocations { allocations: method.allocations, first_slot: method.calls.len() };
        Ok(Some(Box::new(plan)))
    }
}

/// The allocations of one method.
struct MethodAllocations<'m> {
    allocations: &'m [Allocation],
    first_slot: usize,
}

impl MethodPass for MethodAllocations<'_> {
    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        if !matches!(body.context, Context::Node(_)) {
            return Ok(());
        }
        let mut site = self.first_slot;
        for Allocation { bci, made } in self.allocations {
            let mut asm = Asm::new();
            match made {
                AllocatedType::One(of) => {
                    body.push_context(&mut asm, site, *bci)?;
                    body.emitter.mid(&mut asm, Mid::of_type(of))?;
                    body.emitter.helper(&mut asm, Helper::Object)?;
                }
                AllocatedType::Arrays(types) => {
                    // The array, a context, an id, a level.
                    body.edit.need_stack(6);
                    for (level, of) in types.iter().enumerate() {
                        asm.op(opcode::DUP);
                        body.push_context(&mut asm, site + level, *bci)?;
                        body.emitter.mid(&mut asm, Mid::of_type(of))?;
                        body.emitter.int(&mut asm, level as u32)?;
                        body.emitter.helper(&mut asm, Helper::Arrays)?;
                    }
                }
                AllocatedType::Copy => {
                    asm.op(opcode::DUP);
                    body.push_context(&mut asm, site, *bci)?;
                    body.emitter.helper(&mut asm, Helper::Copy)?;
                }
                AllocatedType::Nothing => {}
            }
            site += made.slots();
            if !asm.bytes.is_empty() {
                body.after(*bci, &asm)?;
            }
        }
        Ok(())
    }
}
