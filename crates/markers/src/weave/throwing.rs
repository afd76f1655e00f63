//! Analysis of whether an exception may leave a method. Methods that cannot throw need no handler:
//! the small methods that read and write fields, which are called most.

use cct_classfile::{ClassFile, Code, Instruction, Member, access, opcode};

/// Whether code stores into a local.
pub(super) fn is_stored(code: &Code<'_>, slot: u16) -> bool {
    code.instructions().any(|i| {
        let stores = (opcode::ISTORE..=opcode::ASTORE_3).contains(&i.opcode) || i.opcode == opcode::IINC;
        stores
            && i.local()
                .is_some_and(|(local, two)| local == slot || two && local.checked_add(1) == Some(slot))
    })
}

/// Whether some instruction of a method may throw, as far as known.
pub(super) fn can_throw(class: &ClassFile<'_>, member: &Member<'_>, code: &Code<'_>) -> bool {
    let has_this = !member.is(access::STATIC) && member.name != b"<init>" && !is_stored(code, 0);
    // For each value on the stack, whether it is `this`. The stack is not followed beyond jumps, so
    // methods that jump may throw.
    let mut stack: Vec<bool> = Vec::new();
    code.instructions().any(|instruction| !is_safe(class, has_this, &instruction, &mut stack))
}

/// Whether a method at most reads fields and returns: nobody can observe its start or end.
pub(super) fn only_reads(class: &ClassFile<'_>, member: &Member<'_>, code: &Code<'_>) -> bool {
    !member.is(access::SYNCHRONIZED)
        && code.instructions().all(|instruction| instruction.opcode != opcode::PUTFIELD)
        && !can_throw(class, member, code)
}

/// Whether an instruction cannot throw; updates the stack.
fn is_safe(
    class: &ClassFile<'_>,
    has_this: bool,
    instruction: &Instruction<'_>,
    stack: &mut Vec<bool>,
) -> bool {
    use opcode::*;
    let op = instruction.opcode;
    match op {
        NOP | IINC => true,
        ACONST_NULL..=SIPUSH | ILOAD..=DLOAD | ILOAD_0..=DLOAD_3 => {
            stack.push(false);
            true
        }
        ALOAD | ALOAD_0..=ALOAD_3 => {
            let is_first = instruction.local().is_some_and(|(local, _)| local == 0);
            stack.push(has_this && is_first);
            true
        }
        ISTORE..=ASTORE_3 => stack.pop().is_some(),
        GETFIELD => {
            let is_ours = stack.pop() == Some(true) && is_own(class, instruction, 0);
            stack.push(false);
            is_ours
        }
        PUTFIELD => {
            let value = stack.pop();
            // JVMS 6.5.putfield: only constructors may write final fields.
            value.is_some() && stack.pop() == Some(true) && is_own(class, instruction, access::FINAL)
        }
        IRETURN..=RETURN => true,
        _ => false,
    }
}

/// Whether the class itself has the field, so that it is found: an instance field without such a
/// flag.
fn is_own(class: &ClassFile<'_>, instruction: &Instruction<'_>, without: u16) -> bool {
    let Some(field) = instruction.pool_index().and_then(|index| class.pool.member_ref(index).ok()) else {
        return false;
    };
    let is_it = |member: &Member<'_>| {
        member.name == field.name
            && member.descriptor == field.descriptor
            && member.access_flags & (access::STATIC | without) == 0
    };
    field.class == class.name() && class.fields.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Methods by name: those that can throw, in a class of the fixtures.
    #[test]
    fn accesses_to_fields_of_this_cannot_throw() {
        let path = "../../fixtures/markers/classes/Leaves.class";
        let bytes = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let mut safe = Vec::new();
        for member in &class.methods {
            let code = Code::of(&class, member).unwrap().unwrap();
            if !can_throw(&class, member, &code) {
                safe.push(String::from_utf8_lossy(member.name).into_owned());
            }
        }
        assert_eq!(safe, ["get", "set", "wide", "constant", "nothing"]);
        let reads = |name: &[u8]| {
            let member = class.methods.iter().find(|member| member.name == name).unwrap();
            only_reads(&class, member, &Code::of(&class, member).unwrap().unwrap())
        };
        assert!(reads(b"get") && reads(b"constant") && reads(b"nothing"));
        assert!(!reads(b"set") && !reads(b"calls"));

        // Code that only compilers of other languages generate: a method that sets a final field.
        let mut class = ClassFile::parse(&bytes).unwrap();
        class.fields.iter_mut().for_each(|field| field.access_flags |= access::FINAL);
        let throws = |name: &[u8]| {
            let member = class.methods.iter().find(|member| member.name == name).unwrap();
            can_throw(&class, member, &Code::of(&class, member).unwrap().unwrap())
        };
        assert!(throws(b"set") && !throws(b"get"));
    }
}
