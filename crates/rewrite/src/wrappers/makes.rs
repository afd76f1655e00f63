//! Counts of the objects that natives allocate, in their wrappers.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Result, opcode};
use cct_jdk::allocations::NativeAllocation;
use cct_jdk::helpers::Helper;

use crate::carrier::Emitter;

/// Counts the objects that a native has allocated: its result is on the stack, its node in local
/// `node`.
pub(super) fn count_made(
    emitter: &mut Emitter<'_, '_, '_>,
    asm: &mut Asm,
    makes: NativeAllocation,
    node: u16,
) -> Result<()> {
    asm.op(opcode::DUP);
    match makes {
        NativeAllocation::Result => {
            asm.load(Kind::Long, node);
            emitter.helper(asm, Helper::Result)
        }
        NativeAllocation::Arrays(lengths) => {
            asm.load(Kind::Reference, lengths).load(Kind::Long, node);
            emitter.helper(asm, Helper::ResultArrays)
        }
    }
}
