//! Faults of class files that rewriting would hide from the JVM.
//!
//! The JVM refuses an index past the constant pool and a range past the code (JVMS 4.1, 4.7.13). An
//! edit makes both longer, so an index past the end may become valid. Editors skip classes with
//! such faults, and the JVM reports them.

mod stack;

use std::cell::LazyCell;

use crate::attributes::{AttributeInfo, LocalVariable};
use crate::class::{Attributes, ClassFile, Member};
use crate::code::{BciSet, Code};
use crate::constant_pool::{ConstantPool, tag};
use crate::error::{Error, ErrorKind, Result};
use crate::stack::Effects;
use crate::{access, opcode};
use stack::Depth;

/// Attributes whose indices the JVM checks.
const CHECKED: &[&[u8]] = &[
    b"BootstrapMethods",
    b"EnclosingMethod",
    b"Exceptions",
    b"InnerClasses",
    b"LocalVariableTable",
    b"LocalVariableTypeTable",
    b"MethodParameters",
    b"Signature",
    b"SourceFile",
];

/// The class-file version of JDK 1.0 and 1.1.
const FIRST_VERSION: u16 = 45;

/// The first version in which the verifier requires ranges of local variables to begin and end at
/// instructions.
const SPLIT_VERIFIER: u16 = 50;

/// Finds the first fault, in classes that are to be rewritten, alone or beforehand. Returns the
/// code that it decoded, for each method in order.
pub fn check<'a>(class: &ClassFile<'a>) -> Result<Vec<Option<Code<'a>>>> {
    // An interface may get a version that JVMs know.
    if class.major_version < FIRST_VERSION {
        return Err(Error::new(ErrorKind::Malformed("a version before the first one")));
    }
    let pool = &class.pool;
    pool.tags().try_for_each(|(index, tag)| constant(pool, index, tag))?;
    attributes(&class.attributes, pool)?;
    for field in &class.fields {
        attributes(&field.attributes, pool)?;
        // The JVM ignores it for other fields (JVMS 4.7.2).
        if let Some(value) = field.attributes.find(b"ConstantValue").filter(|_| field.is(access::STATIC)) {
            AttributeInfo::parse(value, pool)?;
        }
    }
    let mut effects = Effects::new(pool);
    let codes =
        class.methods.iter().map(|method| code(class, method, &mut effects).map_err(|e| method.locate(e)));
    codes.collect()
}

fn constant(pool: &ConstantPool<'_>, index: u16, tag: u8) -> Result<()> {
    match tag {
        tag::CLASS => pool.class(index).map(drop),
        tag::STRING => pool.string(index).map(drop),
        tag::NAME_AND_TYPE => pool.name_and_type(index).map(drop),
        tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF => pool.member_ref(index).map(drop),
        tag::METHOD_TYPE => pool.method_type(index).map(drop),
        tag::METHOD_HANDLE => pool.method_handle(index).and_then(|(_, of)| pool.member_ref(of)).map(drop),
        tag::DYNAMIC | tag::INVOKE_DYNAMIC => pool.dynamic(index).map(drop),
        _ => Ok(()),
    }
}

/// The checked attributes.
fn attributes<'a>(attributes: &Attributes<'a>, pool: &ConstantPool<'a>) -> Result<()> {
    let checked = attributes.iter().filter(|a| CHECKED.contains(&a.name));
    checked.map(|attribute| AttributeInfo::parse(attribute, pool)).try_for_each(|info| info.map(drop))
}

fn code<'a>(
    class: &ClassFile<'a>,
    method: &Member<'a>,
    effects: &mut Effects<'_, 'a>,
) -> Result<Option<Code<'a>>> {
    let pool = &class.pool;
    attributes(&method.attributes, pool)?;
    let is_bodiless = method.is(access::NATIVE) || method.is(access::ABSTRACT);
    // A wrapper would need both that code and its own, or none where code is required.
    let Some(code) = Code::of(class, method)? else {
        return if is_bodiless {
            Ok(None)
        } else {
            Err(Error::new(ErrorKind::Malformed("no code in a method that is neither native nor abstract")))
        };
    };
    if is_bodiless {
        return Err(Error::new(ErrorKind::Malformed("code in a method that is native or abstract")));
    }
    // Bodies get more locals and a larger stack, and end with appended code.
    let receiver = u16::from(!method.is(access::STATIC));
    let arguments = effects.argument_slots(method.descriptor_index)?;
    if arguments.saturating_add(receiver) > code.max_locals {
        return Err(Error::new(ErrorKind::Malformed("arguments that do not fit into the local variables")));
    }
    let mut last = opcode::RETURN;
    let has_constant = |index| match pool.tag(index) {
        Some(_) => Ok(()),
        None => Err(Error::new(ErrorKind::BadIndex { index, expected: "a constant" })),
    };
    // The check does not follow returns of subroutines; the verifier does.
    let is_followed = Depth::is_followed(class) && !code.calls_subroutines;
    let mut depth = is_followed.then(|| Depth::of(class, &code)).transpose()?;
    for instruction in code.instructions() {
        last = instruction.opcode;
        if let Some(depth) = &mut depth {
            depth.step(&instruction, effects)?;
        }
        if let Some(index) = instruction.pool_index() {
            has_constant(index)?;
        }
    }
    code.handlers.iter().filter(|h| h.catch_type != 0).try_for_each(|h| has_constant(h.catch_type))?;
    // The verifier with frames requires this of the last instruction, reached or not.
    if class.major_version >= SPLIT_VERIFIER && !opcode::ends_flow(last) {
        return Err(Error::new(ErrorKind::Malformed("code whose end is reached")));
    }
    if !is_followed && !code.calls_subroutines {
        stack::check(&code, effects)?;
    }
    // Computed once for all tables: there may be thousands.
    let boundaries = LazyCell::new(|| boundaries(class, &code));
    for attribute in code.attributes.iter().filter(|a| CHECKED.contains(&a.name)) {
        match AttributeInfo::parse(attribute, pool)? {
            AttributeInfo::LocalVariableTable(variables) => {
                let is_wide = |v: &LocalVariable| matches!(pool.utf8(v.descriptor), Ok(b"J" | b"D"));
                variables.iter().try_for_each(|v| variable(v, is_wide(v), &code, &boundaries))?;
            }
            AttributeInfo::LocalVariableTypeTable(variables) => {
                variables.iter().try_for_each(|v| variable(v, false, &code, &boundaries))?;
            }
            _ => {}
        }
    }
    Ok(Some(code))
}

/// The valid boundaries of ranges.
fn boundaries(class: &ClassFile<'_>, code: &Code<'_>) -> BciSet {
    let mut boundaries = BciSet::new(code.length() as usize + 1);
    let mut end = 0;
    for instruction in code.instructions() {
        let start = std::mem::replace(&mut end, instruction.end());
        let all = if class.major_version >= SPLIT_VERIFIER { start..start + 1 } else { start..end };
        for bci in all {
            boundaries.insert(bci);
        }
    }
    boundaries
}

fn variable(v: &LocalVariable, is_wide: bool, code: &Code<'_>, boundaries: &BciSet) -> Result<()> {
    let start = u32::from(v.start);
    let end = start + u32::from(v.length);
    let slots = u32::from(v.slot) + 1 + u32::from(is_wide);
    let is_end = end == code.length() || boundaries.contains(end);
    if boundaries.contains(start) && is_end && slots <= u32::from(code.max_locals) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::Malformed("a local variable outside of the code or of the frame")))
    }
}
