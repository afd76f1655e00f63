//! What instructions do to the depth of the operand stack.

use crate::code::Instruction;
use crate::constant_pool::ConstantPool;
use crate::descriptor::{MethodDescriptor, field_type};
use crate::opcode;

/// Slots that an instruction takes from the stack, and that it puts there (JVMS 6.5). None where its constant cannot be read.
pub fn effect(pool: &ConstantPool<'_>, i: &Instruction<'_>) -> Option<(u32, u32)> {
    let member = || i.pool_index().and_then(|index| pool.member_ref(index).ok());
    let field = || Some(u32::from(field_type(member()?.descriptor).ok()?.slots()));
    let call = |d: &[u8], receiver: u32| {
        let d = MethodDescriptor::parse(d).ok()?;
        Some((u32::from(d.argument_slots()) + receiver, u32::from(d.result.slots())))
    };
    match i.opcode {
        opcode::GETSTATIC => field().map(|slots| (0, slots)),
        opcode::PUTSTATIC => field().map(|slots| (slots, 0)),
        opcode::GETFIELD => field().map(|slots| (1, slots)),
        opcode::PUTFIELD => field().map(|slots| (1 + slots, 0)),
        opcode::INVOKESTATIC => call(member()?.descriptor, 0),
        opcode::INVOKEVIRTUAL | opcode::INVOKESPECIAL | opcode::INVOKEINTERFACE => {
            call(member()?.descriptor, 1)
        }
        opcode::INVOKEDYNAMIC => call(pool.dynamic(i.pool_index()?).ok()?.2, 0),
        opcode::MULTIANEWARRAY => Some((u32::from(i.bytes[3]), 1)),
        op => Some(simple(op)),
    }
}

fn simple(op: u8) -> (u32, u32) {
    match op {
        1..=8 | 11..=13 | 16..=19 | 21 | 23 | 25..=29 | 34..=37 | 42..=45 | 168 | 187 | 201 => (0, 1),
        9 | 10 | 14 | 15 | 20 | 22 | 24 | 30..=33 | 38..=41 => (0, 2),
        46 | 48 | 50..=53 | 96 | 98 | 100 | 102 | 104 | 106 | 108 | 110 | 112 | 114 => (2, 1),
        120 | 122 | 124 | 126 | 128 | 130 | 149 | 150 => (2, 1),
        47 | 49 | 95 => (2, 2),
        54 | 56 | 58..=62 | 67..=70 | 75..=78 | 87 | 153..=158 | 170 | 171 | 191 | 194 | 195 | 198 | 199 => {
            (1, 0)
        }
        55 | 57 | 63..=66 | 71..=74 | 88 | 159..=166 => (2, 0),
        79 | 81 | 83..=86 => (3, 0),
        80 | 82 => (4, 0),
        89 => (1, 2),
        90 => (2, 3),
        91 => (3, 4),
        92 => (2, 4),
        93 => (3, 5),
        94 => (4, 6),
        97 | 99 | 101 | 103 | 105 | 107 | 109 | 111 | 113 | 115 | 127 | 129 | 131 => (4, 2),
        116 | 118 | 134 | 139 | 145..=147 | 188..=190 | 192 | 193 => (1, 1),
        117 | 119 | 138 | 143 => (2, 2),
        121 | 123 | 125 => (3, 2),
        133 | 135 | 140 | 141 => (1, 2),
        136 | 137 | 142 | 144 => (2, 1),
        148 | 151 | 152 => (4, 1),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_specification() {
        for (op, effect) in [
            (opcode::NOP, (0, 0)),
            (opcode::LALOAD, (2, 2)),
            (opcode::DUP2_X1, (3, 5)),
            (opcode::LSHL, (3, 2)),
            (opcode::I2L, (1, 2)),
            (opcode::D2F, (2, 1)),
            (opcode::LCMP, (4, 1)),
            (opcode::IF_ICMPNE, (2, 0)),
            (opcode::IFNULL, (1, 0)),
            (opcode::MONITOREXIT, (1, 0)),
            (opcode::JSR, (0, 1)),
            (opcode::GOTO_W, (0, 0)),
            (opcode::NEW, (0, 1)),
        ] {
            assert_eq!(simple(op), effect, "{}", opcode::MNEMONICS[usize::from(op)]);
        }
    }
}
