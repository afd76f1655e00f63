//! Names for locals without a name.
//!
//! HotSpot's message about a null reference (JEP 358) names a local by the `LocalVariableTable`, or
//! by its number: `"<local4>" is null`. Locals move up in instrumented bodies, so those without a
//! name get one that spells their original number. Even classes with variable tables have such
//! locals: `javac` adds some for loops over arrays, switches on strings and the like.

use std::collections::BTreeSet;

use cct_classfile::attributes::{AttributeInfo, LocalVariable};
use cct_classfile::{Bci, ClassFile, Code, Result, opcode};

use crate::pass::{BodyWriter, Level, MethodContext, MethodPass, Pass};

/// Class files before this version have variables with names of the Java language only (JVMS
/// 4.2.2).
const FREE_NAMES: u16 = 49;

/// The pass that names locals.
pub struct LocalNames;

impl Pass for LocalNames {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        _level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        if !method.names_locals {
            return Ok(None);
        }
        let slots = unnamed(method.class, method.code, method.signature.argument_slots())?;
        Ok((!slots.is_empty()).then(|| Box::new(UnnamedLocals(slots)) as _))
    }
}

/// The locals of one method that get names, as slots of the original code.
struct UnnamedLocals(Vec<u16>);

impl MethodPass for UnnamedLocals {
    /// Names the locals after their numbers.
    fn insert(&self, body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
        let additions = &mut body.emitter.edit.additions;
        for &slot in &self.0 {
            let name = additions.utf8(format!("<local{slot}>").as_bytes())?;
            // The type is arbitrary: only the name is used.
            let descriptor = additions.utf8(b"I")?;
            body.edit.name_local(slot, name, descriptor);
        }
        Ok(())
    }
}

/// All locals from slot `from` on that are read outside the ranges in which a table names them.
fn unnamed(class: &ClassFile<'_>, code: &Code<'_>, from: u16) -> Result<Vec<u16>> {
    if code.max_locals <= from || class.major_version < FREE_NAMES {
        return Ok(Vec::new());
    }
    let mut named: Vec<(u16, Bci, Bci)> = Vec::new();
    for attribute in code.attributes.iter().filter(|a| a.name == b"LocalVariableTable") {
        if let AttributeInfo::LocalVariableTable(entries) = AttributeInfo::parse(attribute, &class.pool)? {
            let range =
                |v: &LocalVariable| (v.slot, v.start.into(), Bci::from(v.start) + Bci::from(v.length));
            named.extend(entries.iter().map(range));
        }
    }
    // Sort the ranges and join adjacent ones: a table of a hostile class may have a million
    // entries, and its code up to 64 KB of reads.
    named.sort_unstable();
    named.dedup_by(|next, before| {
        let meet = next.0 == before.0 && next.1 <= before.2;
        if meet {
            before.2 = before.2.max(next.2);
        }
        meet
    });
    let reads = |op| (opcode::ILOAD..=opcode::ALOAD_3).contains(&op);
    let mut slots = BTreeSet::new();
    for instruction in code.instructions().filter(|i| reads(i.opcode)) {
        let Some((slot, _)) = instruction.local() else { continue };
        let begun = named.partition_point(|&(of, start, _)| (of, start) <= (slot, instruction.bci));
        let last = begun.checked_sub(1).map(|at| named[at]);
        let is_named = last.is_some_and(|(of, _, end)| of == slot && instruction.bci < end);
        // The verifier reports a slot that the method does not have. A name for such a slot would
        // be a different error, at a different time.
        let exists = slot >= from && slot < code.max_locals;
        if exists && !is_named {
            slots.insert(slot);
        }
    }
    Ok(slots.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::{PUBLIC, STATIC};

    use super::*;
    use cct_test_classes::class;

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
        // A slot that is read but does not exist gets no name.
        let code = Code { max_locals: 4, ..code };
        assert_eq!(unnamed(&class, &code, 2).unwrap(), [2]);
    }
}
