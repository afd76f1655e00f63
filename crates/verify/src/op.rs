//! Operations: the effects of instructions in probes, in any encoding.

use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::FieldType;
use cct_classfile::{ClassFile, Instruction, MemberConstant, MemberRef, opcode};

use cct_jdk::convention::OBJECT;
use cct_jdk::helpers::Helper;
use cct_jdk::runtime_method::RuntimeMethod;

/// Kinds of locals and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Int,
    Long,
    Float,
    Double,
    Reference,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Int, Kind::Long, Kind::Float, Kind::Double, Kind::Reference];

    /// The kind of a type; `None` for `void`.
    pub fn of(t: FieldType<'_>) -> Option<Kind> {
        Some(match t {
            FieldType::Base(b'V') => return None,
            FieldType::Base(b'J') => Kind::Long,
            FieldType::Base(b'F') => Kind::Float,
            FieldType::Base(b'D') => Kind::Double,
            FieldType::Base(_) => Kind::Int,
            FieldType::Class(_) | FieldType::Array(_) => Kind::Reference,
        })
    }
}

/// A method that is invoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Callee<'a> {
    /// Tag of the reference.
    pub tag: u8,
    /// The method that it names.
    pub method: MemberRef<'a>,
}

impl<'a> From<MemberConstant<'a>> for Callee<'a> {
    fn from(constant: MemberConstant<'a>) -> Self {
        Callee { tag: constant.tag, method: constant.member }
    }
}

/// The operation of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op<'a> {
    Load(Kind, u16),
    Store(Kind, u16),
    Increment(u16, i32),
    Int(i32),
    Long(i64),
    Null,
    Dup,
    Dup2,
    /// `dup_x2`.
    DupX2,
    /// `dup2_x1`.
    Dup2X1,
    Swap,
    Pop,
    Pop2,
    ArrayLength,
    IntToLong,
    LongAdd,
    LongMultiply,
    IntAdd,
    Throw,
    /// `nop`.
    Nothing,
    Return(Option<Kind>),
    /// A helper of `java/lang/Object`, by the name of a class that inherits it.
    Helper(Helper),
    /// Another invocation: its opcode, and the operand `count` of `invokeinterface`.
    Invoke(u8, Callee<'a>, u8),
    CheckCast(&'a [u8]),
    /// Anything that does not occur in probes.
    Other,
}

impl Op<'static> {
    /// A call of a method of the runtime.
    pub fn runtime(method: RuntimeMethod) -> Self {
        let callee = Callee { tag: tag::METHODREF, method: method.member };
        Op::Invoke(opcode::INVOKESTATIC, callee, 0)
    }
}

/// The operation of an instruction. Invalid operands give [`Op::Other`].
pub fn op<'a>(class: &ClassFile<'a>, i: &Instruction<'a>) -> Op<'a> {
    use opcode as o;
    let signed = |at: usize| i16::from_be_bytes([i.bytes[at], i.bytes[at + 1]]);
    let local = i.local().map_or(0, |(local, _)| local);
    match i.opcode {
        x @ o::ILOAD..=o::ALOAD => Op::Load(Kind::ALL[usize::from(x - o::ILOAD)], local),
        x @ o::ILOAD_0..=o::ALOAD_3 => Op::Load(Kind::ALL[usize::from(x - o::ILOAD_0) / 4], local),
        x @ o::ISTORE..=o::ASTORE => Op::Store(Kind::ALL[usize::from(x - o::ISTORE)], local),
        x @ o::ISTORE_0..=o::ASTORE_3 => Op::Store(Kind::ALL[usize::from(x - o::ISTORE_0) / 4], local),
        o::IINC if i.is_wide() => Op::Increment(local, i32::from(signed(4))),
        o::IINC => Op::Increment(local, i32::from(i.bytes[2] as i8)),
        o::NOP => Op::Nothing,
        o::ACONST_NULL => Op::Null,
        x @ o::ICONST_M1..=o::ICONST_5 => Op::Int(i32::from(x) - i32::from(o::ICONST_0)),
        o::BIPUSH => Op::Int(i32::from(i.bytes[1] as i8)),
        o::SIPUSH => Op::Int(i32::from(signed(1))),
        o::LDC | o::LDC_W => constant(class, i, |pool, index| pool.integer(index).ok().map(Op::Int)),
        o::LDC2_W => constant(class, i, |pool, index| pool.long(index).ok().map(Op::Long)),
        o::DUP => Op::Dup,
        o::DUP2 => Op::Dup2,
        o::DUP_X2 => Op::DupX2,
        o::DUP2_X1 => Op::Dup2X1,
        o::SWAP => Op::Swap,
        o::POP => Op::Pop,
        o::POP2 => Op::Pop2,
        o::ARRAYLENGTH => Op::ArrayLength,
        o::I2L => Op::IntToLong,
        o::LADD => Op::LongAdd,
        o::LMUL => Op::LongMultiply,
        o::IADD => Op::IntAdd,
        o::ATHROW => Op::Throw,
        o::RETURN => Op::Return(None),
        x @ o::IRETURN..=o::ARETURN => Op::Return(Some(Kind::ALL[usize::from(x - o::IRETURN)])),
        o::CHECKCAST => constant(class, i, |pool, index| pool.class(index).ok().map(Op::CheckCast)),
        x @ o::INVOKEVIRTUAL..=o::INVOKEINTERFACE => invocation(class, i, x),
        _ => Op::Other,
    }
}

fn constant<'a>(
    class: &ClassFile<'a>,
    i: &Instruction<'a>,
    read: impl Fn(&cct_classfile::ConstantPool<'a>, u16) -> Option<Op<'a>>,
) -> Op<'a> {
    i.pool_index().and_then(|index| read(&class.pool, index)).unwrap_or(Op::Other)
}

fn invocation<'a>(class: &ClassFile<'a>, i: &Instruction<'a>, opcode: u8) -> Op<'a> {
    let Some(callee) = i.pool_index().and_then(|index| class.pool.member_constant(index).ok()) else {
        return Op::Other;
    };
    let method = callee.member;
    if opcode == opcode::INVOKESTATIC && method.name.starts_with(b"cct$") {
        let is_owner = method.class == OBJECT || Some(method.class) == class.super_name();
        let helper = Helper::all().find(|helper| method.name_and_type() == helper.name_and_type());
        if let (true, tag::METHODREF, Some(helper)) = (is_owner, callee.tag, helper) {
            return Op::Helper(helper);
        }
    }
    let count = if opcode == opcode::INVOKEINTERFACE { i.bytes[3] } else { 0 };
    Op::Invoke(opcode, callee.into(), count)
}
