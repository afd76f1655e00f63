//! Single instructions, written in their shortest form.

use crate::bytes::PutBytes;
use crate::constant_pool::Index;
use crate::opcode::{self, Opcode};

/// The kinds of values that loads, stores and returns distinguish, in the order of their opcodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Int = 0,
    Long = 1,
    Float = 2,
    Double = 3,
    Reference = 4,
}

impl Kind {
    /// The kind of a field type; `None` for void.
    pub fn of(t: crate::descriptor::FieldType<'_>) -> Option<Kind> {
        use crate::descriptor::FieldType::{Array, Base, Class};
        match t {
            Base(b'V') => None,
            Base(b'J') => Some(Kind::Long),
            Base(b'F') => Some(Kind::Float),
            Base(b'D') => Some(Kind::Double),
            Base(_) => Some(Kind::Int),
            Class(_) | Array(_) => Some(Kind::Reference),
        }
    }
}

/// A sequence of instructions without jumps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asm {
    /// The bytes so far.
    pub bytes: Vec<u8>,
}

impl Asm {
    /// An empty sequence.
    pub fn new() -> Self {
        // Few sequences are longer, so one allocation suffices.
        Asm { bytes: Vec::with_capacity(64) }
    }

    /// Empties the sequence for reuse.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// An instruction without operands.
    pub fn op(&mut self, opcode: Opcode) -> &mut Self {
        self.bytes.put1(opcode);
        self
    }

    fn local(&mut self, general: Opcode, short: Opcode, kind: Kind, index: u16) -> &mut Self {
        match index {
            0..=3 => self.bytes.put1(short + 4 * kind as u8 + index as u8),
            4..=255 => self.bytes.put2(u16::from_be_bytes([general + kind as u8, index as u8])),
            _ => {
                self.bytes.put2(u16::from_be_bytes([opcode::WIDE, general + kind as u8]));
                self.bytes.put2(index);
            }
        }
        self
    }

    /// `xload`.
    pub fn load(&mut self, kind: Kind, index: u16) -> &mut Self {
        self.local(opcode::ILOAD, opcode::ILOAD_0, kind, index)
    }

    /// `xstore`.
    pub fn store(&mut self, kind: Kind, index: u16) -> &mut Self {
        self.local(opcode::ISTORE, opcode::ISTORE_0, kind, index)
    }

    /// `iinc`.
    pub fn iinc(&mut self, index: u16, by: i16) -> &mut Self {
        match (u8::try_from(index), i8::try_from(by)) {
            (Ok(index), Ok(by)) => self.bytes.extend_from_slice(&[opcode::IINC, index, by as u8]),
            _ => {
                self.bytes.extend_from_slice(&[opcode::WIDE, opcode::IINC]);
                self.bytes.put2(index);
                self.bytes.put2(by as u16);
            }
        }
        self
    }

    /// `xreturn`, or `return` for `None`.
    pub fn ret(&mut self, kind: Option<Kind>) -> &mut Self {
        self.op(kind.map_or(opcode::RETURN, |k| opcode::IRETURN + k as u8))
    }

    /// Pushes an `int` of 16 bits.
    pub fn int(&mut self, value: i16) -> &mut Self {
        match value {
            -1..=5 => self.bytes.put1((i16::from(opcode::ICONST_0) + value) as u8),
            -128..=127 => self.bytes.extend_from_slice(&[opcode::BIPUSH, value as i8 as u8]),
            _ => {
                self.bytes.put1(opcode::SIPUSH);
                self.bytes.put2(value as u16);
            }
        }
        self
    }

    /// An instruction with a two-byte constant-pool index.
    pub fn indexed(&mut self, opcode: Opcode, index: Index) -> &mut Self {
        self.bytes.put1(opcode);
        self.bytes.put2(index);
        self
    }

    /// `ldc` or `ldc_w`.
    pub fn ldc(&mut self, index: Index) -> &mut Self {
        match u8::try_from(index) {
            Ok(short) => {
                self.bytes.extend_from_slice(&[opcode::LDC, short]);
                self
            }
            Err(_) => self.indexed(opcode::LDC_W, index),
        }
    }

    /// `invokeinterface`, whose third operand repeats the number of argument slots (`this`
    /// included).
    pub fn invoke_interface(&mut self, index: Index, slots: u8) -> &mut Self {
        self.indexed(opcode::INVOKEINTERFACE, index);
        self.bytes.extend_from_slice(&[slots, 0]);
        self
    }
}
