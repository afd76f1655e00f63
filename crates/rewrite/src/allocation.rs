//! Object allocation (CCCP 5.1): the instructions and the natives that allocate.
//!
//! The objects of a type form a node below the context that allocates them. The node's calls are
//! the number of objects, its id is [`Mid::of_type`](cct_index::mid::Mid::of_type).

use cct_classfile::{Bci, ClassFile, Instruction, MemberName, Result, opcode};
use cct_jdk::convention::OBJECT;

/// An instruction that allocates objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Bytecode index of the instruction.
    pub bci: Bci,
    /// The types that it allocates.
    pub made: AllocatedType,
}

/// The types of the objects that an instruction allocates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllocatedType {
    /// One object, or one array, of this type.
    One(Box<[u8]>),
    /// An array of arrays: the types from the outermost inwards, one for each dimension whose
    /// length is given.
    Arrays(Vec<Box<[u8]>>),
    /// A copy of the receiver (`Object.clone`). Its type is known only once the copy exists.
    Copy,
    /// Nothing: the called `clone` counts its own allocation, or its result is not known. It
    /// reserves a slot nevertheless, so that slots follow from the code alone.
    Nothing,
}

impl AllocatedType {
    /// The number of slots of the node that the instruction reserves.
    pub fn slots(&self) -> usize {
        match self {
            AllocatedType::Arrays(types) => types.len(),
            AllocatedType::One(_) | AllocatedType::Copy | AllocatedType::Nothing => 1,
        }
    }

    /// The types that are known before the program runs.
    pub fn types(&self) -> &[Box<[u8]>] {
        match self {
            AllocatedType::One(of) => std::slice::from_ref(of),
            AllocatedType::Arrays(types) => types,
            AllocatedType::Copy | AllocatedType::Nothing => &[],
        }
    }
}

/// The types that an instruction allocates; `None` if it allocates nothing. A call of `clone`
/// allocates a copy if it `is_copy`. A class that names itself appears as `own_name`, as in the
/// profile.
pub fn of(
    class: &ClassFile<'_>,
    own_name: &[u8],
    instruction: &Instruction<'_>,
    is_copy: impl FnOnce() -> Result<bool>,
) -> Result<Option<AllocatedType>> {
    let pool = &class.pool;
    let named = || -> Result<Option<Vec<u8>>> {
        let Some(index) = instruction.pool_index() else { return Ok(None) };
        let name = pool.class(index)?;
        Ok(Some(if name == class.name() { own_name.to_vec() } else { name.to_vec() }))
    };
    Ok(match instruction.opcode {
        opcode::NEW => named()?.map(|name| AllocatedType::One(name.into())),
        opcode::NEWARRAY => instruction
            .bytes
            .get(1)
            .and_then(|&code| primitive(code))
            .map(|of| AllocatedType::One((*of).into())),
        opcode::ANEWARRAY => named()?.map(|name| AllocatedType::One(array_of(&name).into())),
        opcode::MULTIANEWARRAY => match (named()?, instruction.bytes.get(3)) {
            (Some(name), Some(&dimensions)) => {
                let levels = (0..usize::from(dimensions)).filter_map(|level| name.get(level..));
                Some(AllocatedType::Arrays(levels.map(Into::into).collect()))
            }
            _ => None,
        },
        opcode::INVOKEVIRTUAL | opcode::INVOKESPECIAL => {
            let callee = match instruction.pool_index() {
                Some(index) => pool.member_ref(index)?,
                None => return Ok(None),
            };
            match (callee.name, callee.descriptor) {
                (b"clone", b"()Ljava/lang/Object;") => {
                    Some(if is_copy()? { AllocatedType::Copy } else { AllocatedType::Nothing })
                }
                _ => None,
            }
        }
        _ => None,
    })
}

/// Descriptor of an array of this class, or of this array type.
fn array_of(name: &[u8]) -> Vec<u8> {
    match name.first() {
        Some(b'[') => [b"[", name].concat(),
        _ => [b"[L", name, b";"].concat(),
    }
}

/// Type of the array that `newarray` allocates (JVMS, table 6.5.newarray-A).
fn primitive(code: u8) -> Option<&'static [u8; 2]> {
    Some(match code {
        4 => b"[Z",
        5 => b"[C",
        6 => b"[F",
        7 => b"[D",
        8 => b"[B",
        9 => b"[S",
        10 => b"[I",
        11 => b"[J",
        _ => return None,
    })
}

/// Whether the method is the native that copies objects.
pub fn is_clone(method: MemberName<'_>) -> bool {
    method == MemberName::new(OBJECT, b"clone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_descriptors_for_names() {
        assert_eq!(array_of(b"java/lang/String"), b"[Ljava/lang/String;");
        assert_eq!(array_of(b"[I"), b"[[I");
        assert_eq!(
            (primitive(4), primitive(11), primitive(3), primitive(12)),
            (Some(b"[Z"), Some(b"[J"), None, None)
        );
    }
}
