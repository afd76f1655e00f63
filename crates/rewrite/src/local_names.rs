//! Names for locals that have none.
//!
//! What HotSpot says of a null reference (JEP 358) names a local by the `LocalVariableTable`, or else by its number: `"<local4>" is null`. Locals
//! move up in instrumented bodies, so those without a name get one that spells the number they had. Even classes with variable tables have such
//! locals: what `javac` keeps for itself in loops over arrays, switches on strings and the like.

use cct_classfile::attributes::{AttributeInfo, LocalVariable};
use cct_classfile::edit::{ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, Code, Result, opcode};

/// Class files before this version have variables with names of the Java language only (JVMS 4.2.2).
const FREE_NAMES: u16 = 49;

/// All locals from slot `from` on that are read where no table names them.
pub fn unnamed(class: &ClassFile<'_>, code: &Code<'_>, from: u16) -> Result<Vec<u16>> {
    let mut slots = Vec::new();
    if code.max_locals <= from || class.major_version < FREE_NAMES {
        return Ok(slots);
    }
    let mut named = Vec::new();
    for attribute in code.attributes.iter().filter(|a| a.name == b"LocalVariableTable") {
        if let AttributeInfo::LocalVariableTable(entries) = AttributeInfo::parse(attribute, &class.pool)? {
            named.extend(entries);
        }
    }
    let reads = |op| (opcode::ILOAD..=opcode::ALOAD_3).contains(&op);
    for instruction in code.instructions().filter(|i| reads(i.opcode)) {
        let Some((slot, _)) = instruction.local() else { continue };
        let is_named = |v: &LocalVariable| {
            let (start, length) = (u32::from(v.start), u32::from(v.length));
            v.slot == slot && (start..start + length).contains(&instruction.bci)
        };
        // A slot that the method does not have is for the verifier to find: a name for it would be another error, and at another time.
        let exists = slot >= from && slot < code.max_locals;
        if exists && !slots.contains(&slot) && !named.iter().any(is_named) {
            slots.push(slot);
        }
    }
    slots.sort_unstable();
    Ok(slots)
}

/// Names these locals of the original code after their numbers.
pub fn add(edit: &mut ClassEdit<'_, '_>, code_edit: &mut CodeEdit<'_, '_>, unnamed: &[u16]) -> Result<()> {
    for &slot in unnamed {
        let name = edit.additions.utf8(format!("<local{slot}>").as_bytes())?;
        // Of whatever type: only the name is of use.
        let descriptor = edit.additions.utf8(b"I")?;
        code_edit.name_local(slot, name, descriptor);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::{PUBLIC, STATIC};

    use super::*;
    use crate::testing::class;

    #[test]
    fn locals_that_are_read_and_have_no_name_are_found() {
        // Two arguments, then 2 and 4 are read; 3 is only written.
        let code = vec![
            opcode::ILOAD_0,
            opcode::ISTORE_0 + 3,
            opcode::ALOAD_0 + 1,
            opcode::POP,
            opcode::ALOAD,
            4,
            opcode::POP,
            opcode::ILOAD_0 + 2,
            opcode::POP,
            opcode::RETURN,
        ];
        let bytes = class("A").method(PUBLIC | STATIC, "m", "(ILjava/lang/Object;)V").with_code(code).bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let code = Code { max_locals: 5, ..Code::of(&class, &class.methods[0]).unwrap().unwrap() };
        assert_eq!(unnamed(&class, &code, 2).unwrap(), [2, 4]);
        assert_eq!(unnamed(&class, &code, 3).unwrap(), [4]);
        // Not one that is read but does not exist.
        let code = Code { max_locals: 4, ..code };
        assert_eq!(unnamed(&class, &code, 2).unwrap(), [2]);
    }
}
