//! Target for class files: read down to the last index, edited, written.

use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Signature, VerificationType};
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, Code, Member, Result, opcode};

use super::walk::walk;

/// Reads a class file. Accepted ones are written back byte for byte, and their code can be moved.
pub fn class(bytes: &[u8]) {
    let seen = walk(bytes);
    let Ok(class) = ClassFile::parse(bytes) else { return };
    assert!(
        ClassEdit::new(&class).finish().unwrap() == bytes,
        "an edit that changes nothing changes something"
    );
    for (position, member) in class.methods.iter().enumerate() {
        let Ok(Some(code)) = Code::of(&class, member) else { continue };
        // Code that cannot be moved must give an error.
        let Ok(moved) = moved(&class, position, member, &code) else { continue };
        let again = ClassFile::parse(&moved).unwrap();
        let new = Code::of(&again, &again.methods[position]).unwrap().unwrap();
        assert_eq!(new.instructions().count(), 2 * code.instructions().count() + 2);
        if seen.errors.is_empty() {
            assert!(walk(&moved).errors.is_empty(), "sound before: {:#?}", walk(&moved).errors);
        }
    }
}

/// The class with a `nop` before each instruction of a method and two more on entry, all its locals
/// after the arguments moved up by two.
fn moved(class: &ClassFile<'_>, position: usize, member: &Member<'_>, code: &Code<'_>) -> Result<Vec<u8>> {
    let signature = Signature::of(class, member)?;
    let mut edit = CodeEdit::new(code, signature.argument_slots(), &[VerificationType::Long]);
    let mut nop = Asm::new();
    nop.op(opcode::NOP);
    edit.prologue(&nop);
    edit.prologue(&nop);
    code.instructions().for_each(|i| edit.before(i.bci, &nop));
    let mut class_edit = ClassEdit::new(class);
    let mut names = std::mem::take(&mut class_edit.names);
    let code_name = names.code(&mut class_edit.additions)?;
    let mut head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
    head.attribute(code_name, |out| {
        edit.finish(&signature, &signature, &mut names, &mut class_edit.additions, out)
    })?;
    class_edit.names = names;
    class_edit.replace_method(position, head.finish());
    class_edit.finish()
}
