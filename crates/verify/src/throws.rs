//! Instructions that may throw (JVMS 6.5). Errors of the virtual machine do not count.

use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, Instruction, opcode};

/// Whether an instruction may throw. For `ldc` the constant decides: loading a number or a string
/// throws nothing.
pub fn may_throw(class: &ClassFile<'_>, i: &Instruction<'_>) -> bool {
    match i.opcode {
        opcode::LDC | opcode::LDC_W | opcode::LDC2_W => !matches!(
            i.pool_index().and_then(|index| class.pool.tag(index)),
            Some(tag::INTEGER | tag::FLOAT | tag::LONG | tag::DOUBLE | tag::STRING)
        ),
        op => opcode::may_throw(op),
    }
}
