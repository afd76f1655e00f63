//! Effects of instructions on the depth of the operand stack.

use crate::code::Instruction;
use crate::constant_pool::{ConstantPool, Index, tag};
use crate::descriptor::{MethodDescriptor, field_type};
use crate::error::Result;
use crate::opcode;

/// Number of slots that an instruction takes from the stack, and number that it pushes (JVMS 6.5).
/// `None` if its constant cannot be read.
pub fn effect(pool: &ConstantPool<'_>, i: &Instruction<'_>) -> Option<(u32, u32)> {
    match SIMPLE[usize::from(i.opcode)] {
        VARIES => by_constant(i, Constant::read(pool, i, &mut [])),
        (pops, pushes) => Some((u32::from(pops), u32::from(pushes))),
    }
}

/// Stack effects of the instructions of one class. Each constant is read once, and each descriptor,
/// which many constants share.
#[derive(Debug)]
pub struct Effects<'p, 'a> {
    pool: &'p ConstantPool<'a>,
    /// The effects of constants, by their indices.
    constants: Vec<Constant>,
    /// The effects of descriptors, by the indices of their texts.
    descriptors: Vec<Constant>,
}

impl<'p, 'a> Effects<'p, 'a> {
    /// The effects for code of the class with this pool.
    pub fn new(pool: &'p ConstantPool<'a>) -> Self {
        let unread = vec![Constant::Unread; usize::from(pool.count())];
        Effects { pool, constants: unread.clone(), descriptors: unread }
    }

    /// Number of slots that an instruction takes and pushes, as [`effect`] computes it.
    #[inline]
    pub fn of(&mut self, i: &Instruction<'_>) -> Option<(u32, u32)> {
        match SIMPLE[usize::from(i.opcode)] {
            VARIES => self.varying(i),
            (pops, pushes) => Some((u32::from(pops), u32::from(pushes))),
        }
    }

    fn varying(&mut self, i: &Instruction<'_>) -> Option<(u32, u32)> {
        let Some(known) = i.pool_index().and_then(|index| self.constants.get_mut(usize::from(index))) else {
            return by_constant(i, Constant::Unreadable);
        };
        if *known == Constant::Unread {
            *known = Constant::read(self.pool, i, &mut self.descriptors);
        }
        by_constant(i, *known)
    }

    /// Slots of the arguments that the method descriptor at this index states.
    pub fn argument_slots(&mut self, index: Index) -> Result<u16> {
        let text = self.pool.utf8(index)?;
        match Constant::of(index, text, &mut self.descriptors) {
            Constant::Call { arguments, .. } => Ok(arguments),
            // It fails, and says why.
            _ => MethodDescriptor::parse(text).map(|descriptor| descriptor.argument_slots()),
        }
    }
}

/// The effect of an instruction's constant on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constant {
    Unread,
    Unreadable,
    /// A field of this many slots.
    Field(u8),
    /// A method: the slots of its arguments and its result, and whether it is the call site of an
    /// `invokedynamic`.
    Call {
        is_dynamic: bool,
        arguments: u16,
        result: u8,
    },
}

impl Constant {
    /// The effect of an instruction's constant. `descriptors` are those read before.
    fn read(pool: &ConstantPool<'_>, i: &Instruction<'_>, descriptors: &mut [Constant]) -> Constant {
        let Some(index) = i.pool_index() else { return Constant::Unreadable };
        if !matches!(pool.tag(index), Some(tag::DYNAMIC | tag::INVOKE_DYNAMIC)) {
            return match pool.member_constant(index) {
                Ok(named) => Constant::of(named.descriptor_index, named.member.descriptor, descriptors),
                Err(_) => Constant::Unreadable,
            };
        }
        match pool.dynamic(index).map(|(_, named)| Constant::parse(named.descriptor)) {
            Ok(Constant::Call { arguments, result, .. }) => {
                Constant::Call { is_dynamic: true, arguments, result }
            }
            _ => Constant::Unreadable,
        }
    }

    /// The effect of the descriptor at this index, as a member's.
    fn of(index: Index, descriptor: &[u8], descriptors: &mut [Constant]) -> Constant {
        let Some(known) = descriptors.get_mut(usize::from(index)) else { return Constant::parse(descriptor) };
        if *known == Constant::Unread {
            *known = Constant::parse(descriptor);
        }
        *known
    }

    /// The effect of a member with this descriptor.
    fn parse(descriptor: &[u8]) -> Constant {
        let parsed = match descriptor {
            [b'(', ..] => MethodDescriptor::parse(descriptor).map(|d| Constant::Call {
                is_dynamic: false,
                arguments: d.argument_slots(),
                result: d.result.slots() as u8,
            }),
            _ => field_type(descriptor).map(|t| Constant::Field(t.slots() as u8)),
        };
        parsed.unwrap_or(Constant::Unreadable)
    }
}

/// The effect of an instruction whose constant decides it; `None` for a constant of the wrong kind.
fn by_constant(i: &Instruction<'_>, constant: Constant) -> Option<(u32, u32)> {
    let receiver = u32::from(!matches!(i.opcode, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC));
    match (i.opcode, constant) {
        (opcode::MULTIANEWARRAY, _) => Some((u32::from(i.bytes[3]), 1)),
        (opcode::GETSTATIC, Constant::Field(slots)) => Some((0, slots.into())),
        (opcode::PUTSTATIC, Constant::Field(slots)) => Some((slots.into(), 0)),
        (opcode::GETFIELD, Constant::Field(slots)) => Some((1, slots.into())),
        (opcode::PUTFIELD, Constant::Field(slots)) => Some((1 + u32::from(slots), 0)),
        (opcode::INVOKEVIRTUAL..=opcode::INVOKEDYNAMIC, Constant::Call { is_dynamic, arguments, result })
            if is_dynamic == (i.opcode == opcode::INVOKEDYNAMIC) =>
        {
            Some((u32::from(arguments) + receiver, result.into()))
        }
        _ => None,
    }
}

/// Entry of the table for effects that depend on the constant or another operand.
const VARIES: (u8, u8) = (u8::MAX, u8::MAX);

/// Number of slots that each instruction takes and pushes.
static SIMPLE: [(u8, u8); 256] = {
    let mut table = [(0, 0); 256];
    let mut op = 0;
    while op < table.len() {
        table[op] = match op as u8 {
            opcode::GETSTATIC..=opcode::INVOKEDYNAMIC | opcode::MULTIANEWARRAY => VARIES,
            op => simple(op),
        };
        op += 1;
    }
    table
};

const fn simple(op: u8) -> (u8, u8) {
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
