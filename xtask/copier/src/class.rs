//! Copying of one class: read to the last attribute and written again.

use anyhow::{Result, ensure};
use cct_classfile::attributes::AttributeInfo;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::edit::{ClassEdit, CodeEdit};
use cct_classfile::{Attributes, ClassFile, Code, ConstantPool, Member};

/// Reads a class and writes it: constants, members and attributes, the code instruction by
/// instruction, its frames and tables in decoded form. The output has the same meaning; frames may
/// be encoded differently.
///
/// # Errors
/// Fails if it is no readable class file, or if an attribute is written differently from how it was
/// read.
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let class = ClassFile::parse(bytes)?;
    class.pool.validate()?;
    let mut scratch = Vec::new();
    attributes(&class.attributes, &class.pool, &mut scratch)?;
    for field in &class.fields {
        attributes(&field.attributes, &class.pool, &mut scratch)?;
    }
    let mut edit = ClassEdit::new(&class);
    for (position, method) in class.methods.iter().enumerate() {
        attributes(&method.attributes, &class.pool, &mut scratch)?;
        if let Some(code) = Code::of(&class, method)? {
            attributes(&code.attributes, &class.pool, &mut scratch)?;
            let method_info = with_code(&class, method, &code, &mut edit)?;
            edit.replace_method(position, method_info);
        }
    }
    Ok(edit.finish()?)
}

/// Parses each attribute and writes it, which must give the same bytes.
fn attributes<'a>(list: &Attributes<'a>, pool: &ConstantPool<'a>, scratch: &mut Vec<u8>) -> Result<()> {
    for attribute in list.iter() {
        scratch.clear();
        AttributeInfo::parse(attribute, pool)?.write(scratch)?;
        ensure!(scratch == attribute.data, "an attribute is not written as it was read");
    }
    Ok(())
}

/// The method with its code encoded again.
fn with_code<'a>(
    class: &ClassFile<'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    edit: &mut ClassEdit<'_, 'a>,
) -> Result<Vec<u8>> {
    let signature = Signature::of(class, method)?;
    let mut names = std::mem::take(&mut edit.names);
    let mut builder = MemberBuilder::new(method.access_flags, method.name_index, method.descriptor_index);
    let name = names.code(&mut edit.additions)?;
    let code_edit = CodeEdit::new(code, code.max_locals, &[]);
    let finished = builder.attribute(name, |out| {
        code_edit.finish(&signature, &signature, &mut names, &mut edit.additions, out)
    })?;
    ensure!(finished.dropped.is_empty(), "an unknown attribute of code: {:?}", finished.dropped);
    builder.copy_attributes(method, |name| name != b"Code");
    edit.names = names;
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_copy_has_the_same_methods_with_the_same_instructions() {
        let fixtures = fixtures::classes();
        assert!(fixtures.len() > 10);
        let mut instructions = 0;
        for bytes in fixtures {
            let copied = copy(&bytes).unwrap();
            let (old, new) = (ClassFile::parse(&bytes).unwrap(), ClassFile::parse(&copied).unwrap());
            assert_eq!(old.methods.len(), new.methods.len());
            for (old_method, new_method) in old.methods.iter().zip(&new.methods) {
                let old_code = Code::of(&old, old_method).unwrap().map(|code| code.bytes);
                let new_code = Code::of(&new, new_method).unwrap().map(|code| code.bytes);
                assert_eq!((old_method.name, old_code), (new_method.name, new_code));
                instructions += old_code.map_or(0, <[u8]>::len);
            }
        }
        assert!(instructions > 100);
    }

    #[test]
    fn what_is_no_class_is_refused() {
        assert!(copy(b"PK").is_err());
    }
}
