//! Allocating instructions and natives, and the probes that count their objects
//! (docs/use/allocations.md).

use cct_classfile::{Bci, ClassFile, Instruction, MemberName, MemberRef, NameAndType, opcode};
use cct_jdk::allocations::NativeAllocation;
use cct_jdk::convention::OBJECT;
use cct_jdk::helpers::Helper;

use crate::convention;
use crate::op::{Kind, Op};
use crate::sites::HandedOn;

/// The native that copies objects.
const CLONE: NameAndType<'_> = NameAndType::new(b"clone", b"()Ljava/lang/Object;");

/// The method name in ids of types.
const NEW: &[u8] = b"<new>";

/// The objects that an instruction allocates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllocatedObjects {
    /// One object or array of this type.
    One(Vec<u8>),
    /// Arrays of arrays: their types, the outermost first.
    Arrays(Vec<Vec<u8>>),
    /// Perhaps a copy of the receiver.
    Copy,
}

impl AllocatedObjects {
    /// Number of slots of the node that it uses.
    pub fn places(&self) -> usize {
        match self {
            AllocatedObjects::Arrays(types) => types.len(),
            AllocatedObjects::One(_) | AllocatedObjects::Copy => 1,
        }
    }

    /// The probe that counts it. `handed_on` gives the context that each slot passes on.
    pub fn probe(&self, node: u16, handed_on: impl Fn(usize) -> HandedOn) -> Vec<Op<'static>> {
        let mut ops = Vec::new();
        let context = |place: usize, ops: &mut Vec<Op<'static>>| {
            let HandedOn { offset, site, is_shared } = handed_on(place);
            ops.push(Op::Load(Kind::Long, node));
            match site {
                0 => ops.extend([Op::Int(offset as i32), Op::IntToLong, Op::LongAdd]),
                _ => ops.extend([Op::Long(i64::from(site) << 48 | offset), Op::LongAdd]),
            }
            ops.extend(is_shared.then_some(Op::Helper(Helper::Site)));
        };
        match self {
            AllocatedObjects::One(of) => {
                context(0, &mut ops);
                ops.extend([Op::Long(id(of)), Op::Helper(Helper::Object)]);
            }
            AllocatedObjects::Arrays(types) => {
                for (level, of) in types.iter().enumerate() {
                    ops.push(Op::Dup);
                    context(level, &mut ops);
                    ops.extend([Op::Long(id(of)), Op::Int(level as i32), Op::Helper(Helper::Arrays)]);
                }
            }
            AllocatedObjects::Copy => {
                ops.push(Op::Dup);
                context(0, &mut ops);
                ops.push(Op::Helper(Helper::Copy));
            }
        }
        ops
    }
}

fn id(of: &[u8]) -> i64 {
    convention::foreign_id(MemberRef::new(of, NEW, b""), 0)
}

/// The id under which callers count `Object.clone`.
pub fn clone_id() -> i64 {
    convention::foreign_id(CLONE.of_class(OBJECT), 0)
}

/// The objects that an instruction allocates; `None` if it allocates nothing.
pub fn of(class: &ClassFile<'_>, i: &Instruction<'_>) -> Option<AllocatedObjects> {
    let named = || class.pool.class(i.pool_index()?).ok();
    Some(match i.opcode {
        opcode::NEW => AllocatedObjects::One(named()?.to_vec()),
        opcode::NEWARRAY => {
            let primitive = b"ZCFDBSIJ".get(usize::from(*i.bytes.get(1)?).checked_sub(4)?)?;
            AllocatedObjects::One(vec![b'[', *primitive])
        }
        opcode::ANEWARRAY => {
            let of = named()?;
            AllocatedObjects::One(if of.starts_with(b"[") {
                [b"[", of].concat()
            } else {
                [b"[L", of, b";"].concat()
            })
        }
        opcode::MULTIANEWARRAY => {
            let of = named()?;
            let dimensions = usize::from(*i.bytes.get(3)?).min(of.len());
            AllocatedObjects::Arrays((0..dimensions).map(|level| of[level..].to_vec()).collect())
        }
        opcode::INVOKEVIRTUAL | opcode::INVOKESPECIAL => {
            let callee = class.pool.member_ref(i.pool_index()?).ok()?;
            let is_clone = callee.name_and_type() == CLONE;
            return is_clone.then_some(AllocatedObjects::Copy);
        }
        _ => return None,
    })
}

/// Whether an id is that of a type which a class may name. No callee has such an id.
pub fn is_type(class: &ClassFile<'_>, wanted: i64) -> bool {
    let primitive = b"ZCFDBSIJ".iter().any(|&code| id(&[b'[', code]) == wanted);
    let named = |index| {
        let Ok(name) = class.pool.class(index) else { return false };
        let dimensions = name.iter().take_while(|&&b| b == b'[').count();
        let array = if dimensions == 0 { [b"[L", name, b";"].concat() } else { [b"[", name].concat() };
        id(&array) == wanted || (0..=dimensions).any(|level| id(&name[level..]) == wanted)
    };
    primitive || class.pool.indices().any(named)
}

/// Number of slots of all instructions that allocate.
pub fn places<'i, 'a: 'i>(class: &ClassFile<'_>, code: impl Iterator<Item = Instruction<'a>>) -> usize {
    code.filter_map(|i| Some(of(class, &i)?.places())).sum()
}

/// Whether a class has code that counts objects.
pub fn are_counted_in(class: &ClassFile<'_>) -> bool {
    class.pool.indices().any(|index| {
        let name = class.pool.member_ref(index).map(|member| member.name);
        matches!(name, Ok(b"cct$object" | b"cct$arrays" | b"cct$copy" | b"cct$result" | b"cct$resultArrays"))
    })
}

/// The count of allocations in a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AllocationCount {
    /// Number of instructions whose objects are counted.
    pub made: u32,
    /// The first instruction whose objects are not counted.
    pub unmade: Option<Bci>,
}

/// The probe that counts the result of a native in its wrapper. The node is in a local.
pub fn of_native(native: MemberName<'_>, node: u16) -> Option<Vec<Op<'static>>> {
    let node = Op::Load(Kind::Long, node);
    Some(match cct_jdk::allocations::of_native(native)? {
        NativeAllocation::Arrays(lengths) => {
            vec![Op::Dup, Op::Load(Kind::Reference, lengths), node, Op::Helper(Helper::ResultArrays)]
        }
        NativeAllocation::Result => vec![Op::Dup, node, Op::Helper(Helper::Result)],
    })
}
