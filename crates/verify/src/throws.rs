//! Instructions that may throw (JVMS 6.5), apart from errors of the virtual machine.

use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, Instruction, opcode};

/// Whether an instruction may throw. For `ldc` the constant decides: numbers and strings need no
/// resolution.
pub fn may_throw(class: &ClassFile<'_>, i: &Instruction<'_>) -> bool {
    match i.opcode {
        opcode::LDC | opcode::LDC_W | opcode::LDC2_W => !matches!(
            i.pool_index().and_then(|index| class.pool.tag(index)),
            Some(tag::INTEGER | tag::FLOAT | tag::LONG | tag::DOUBLE | tag::STRING)
        ),
        op => opcode::may_throw(op),
    }
}
