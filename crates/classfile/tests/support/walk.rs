//! A walk that reads everything in a class file.

use std::collections::BTreeMap;

use cct_classfile::attributes::{AttributeInfo, FrameKind, LocalVariable, VerificationType, frames};
use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::{MethodDescriptor, field_type};
use cct_classfile::{Attribute, BciSet, ClassFile, Code, ConstantPool, Error, mutf8, opcode};

/// Numbers of the items in one or more class files.
#[derive(Debug, Default)]
pub struct ItemCounts {
    pub classes: usize,
    pub methods: usize,
    pub instructions: usize,
    pub attributes: usize,
    /// Unknown attributes, by name.
    pub unknown: BTreeMap<String, usize>,
    /// All errors.
    pub errors: Vec<String>,
}

impl ItemCounts {
    /// The sum of both.
    pub fn and(mut self, other: ItemCounts) -> ItemCounts {
        self.classes += other.classes;
        self.methods += other.methods;
        self.instructions += other.instructions;
        self.attributes += other.attributes;
        for (name, count) in other.unknown {
            *self.unknown.entry(name).or_default() += count;
        }
        self.errors.extend(other.errors);
        self
    }

    fn note<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|e| self.errors.push(e.to_string())).ok()
    }
}

/// Reads a class file down to the last index, continuing after errors. Panics if an attribute is
/// not written back unchanged.
pub fn walk(bytes: &[u8]) -> ItemCounts {
    let mut seen = ItemCounts { classes: 1, ..ItemCounts::default() };
    let Some(class) = seen.note(ClassFile::parse(bytes)) else { return seen };
    seen.note(class.pool.validate());
    walk_pool(&class.pool, &mut seen);
    walk_attributes(class.attributes.iter(), &class.pool, None, &mut seen);
    for field in &class.fields {
        seen.note(field_type(field.descriptor));
        walk_attributes(field.attributes.iter(), &class.pool, None, &mut seen);
    }
    for method in &class.methods {
        seen.methods += 1;
        if let Some(descriptor) = seen.note(MethodDescriptor::parse(method.descriptor)) {
            let slots: u16 = descriptor.arguments().map(|t| t.slots()).fold(0, u16::saturating_add);
            assert_eq!(slots, descriptor.argument_slots(), "{descriptor:?}");
        }
        walk_attributes(method.attributes.iter(), &class.pool, None, &mut seen);
        if let Some(Some(code)) = seen.note(Code::of(&class, method)) {
            walk_code(&code, &class.pool, &mut seen);
        }
    }
    let name = mutf8::decode_lossy(class.name());
    seen.errors.iter_mut().filter(|e| !e.contains(&*name)).for_each(|e| *e = format!("class {name}: {e}"));
    seen
}

fn walk_pool(pool: &ConstantPool<'_>, seen: &mut ItemCounts) {
    for index in pool.indices() {
        let checked = match pool.tag(index).unwrap() {
            tag::CLASS => match pool.class(index) {
                Ok(name) if name.starts_with(b"[") => field_type(name).map(drop),
                other => other.map(drop),
            },
            tag::FIELDREF => pool.member_ref(index).and_then(|m| field_type(m.descriptor).map(drop)),
            tag::METHODREF | tag::INTERFACE_METHODREF => {
                pool.member_ref(index).and_then(|m| MethodDescriptor::parse(m.descriptor).map(drop))
            }
            tag::METHOD_TYPE => pool.method_type(index).and_then(|d| MethodDescriptor::parse(d).map(drop)),
            tag::DYNAMIC => pool.dynamic(index).and_then(|(_, of)| field_type(of.descriptor).map(drop)),
            tag::INVOKE_DYNAMIC => {
                pool.dynamic(index).and_then(|(_, of)| MethodDescriptor::parse(of.descriptor).map(drop))
            }
            tag::STRING => pool.string(index).map(drop),
            tag::INTEGER => pool.integer(index).map(drop),
            tag::FLOAT => pool.float(index).map(drop),
            tag::LONG => pool.long(index).map(drop),
            tag::DOUBLE => pool.double(index).map(drop),
            tag::MODULE => pool.module(index).map(drop),
            tag::PACKAGE => pool.package(index).map(drop),
            _ => Ok(()),
        };
        seen.note(checked);
    }
}

/// Code with the starts of its instructions.
struct Place<'c, 'a> {
    code: &'c Code<'a>,
    starts: BciSet,
}

fn walk_code(code: &Code<'_>, pool: &ConstantPool<'_>, seen: &mut ItemCounts) {
    let mut starts = BciSet::new(code.bytes.len());
    let mut end = 0;
    for instruction in code.instructions() {
        seen.instructions += 1;
        starts.insert(instruction.bci);
        assert_eq!(instruction.bci, end, "instructions lie side by side");
        end = instruction.end();
        let mut targets = 0;
        instruction.for_each_target(|_| targets += 1);
        assert_eq!(
            instruction.switch().map_or(0, |s| s.len() + 1) + usize::from(instruction.target().is_some()),
            targets
        );
        let _ = instruction.local();
        if instruction.pool_index().is_some_and(|index| pool.tag(index).is_none()) {
            seen.errors.push(format!("an instruction's operand names no constant: {instruction:?}"));
        }
    }
    assert_eq!(end, code.length(), "instructions fill the code");
    walk_attributes(code.attributes.iter(), pool, Some(&Place { code, starts }), seen);
}

fn walk_attributes<'i, 'a: 'i>(
    attributes: impl IntoIterator<Item = &'i Attribute<'a>>,
    pool: &ConstantPool<'a>,
    place: Option<&Place<'_, '_>>,
    seen: &mut ItemCounts,
) {
    for attribute in attributes {
        let Some(info) = walk_attribute(attribute, pool, seen) else { continue };
        if let Some(place) = place {
            check_places(&info, pool, place, seen);
        }
        if let AttributeInfo::Record(components) = info {
            for component in &components {
                seen.note(pool.utf8(component.descriptor).and_then(|d| field_type(d).map(drop)));
                for attribute in &component.attributes {
                    walk_attribute(attribute, pool, seen);
                }
            }
        }
    }
}

fn walk_attribute<'a>(
    attribute: &Attribute<'a>,
    pool: &ConstantPool<'a>,
    seen: &mut ItemCounts,
) -> Option<AttributeInfo<'a>> {
    seen.attributes += 1;
    let info = seen.note(AttributeInfo::parse(attribute, pool))?;
    let mut written = Vec::new();
    info.write(&mut written).expect("what was read can be written");
    let name = mutf8::decode_lossy(attribute.name);
    assert!(written == attribute.data, "attribute {name} is not written back as it was: {info:?}");
    assert_eq!(info.name(), attribute.name);
    if let AttributeInfo::Unknown { .. } = info {
        *seen.unknown.entry(name.into_owned()).or_default() += 1;
    }
    Some(info)
}

/// Checks that tables of the code refer to its instructions.
fn check_places(
    info: &AttributeInfo<'_>,
    pool: &ConstantPool<'_>,
    place: &Place<'_, '_>,
    seen: &mut ItemCounts,
) {
    let Place { code, starts } = place;
    let mut expect = |good: bool, what: &str| {
        if !good {
            seen.errors.push(format!("{what} is no instruction's"));
        }
    };
    match info {
        AttributeInfo::StackMapTable(table) => {
            frames::bcis(table).for_each(|bci| expect(starts.contains(bci), "bytecode index of a frame"));
            let is_new = |bci: u16| {
                let at = code.instructions().find(|i| i.bci == u32::from(bci));
                at.is_some_and(|i| i.opcode == opcode::NEW)
            };
            for frame in table {
                let types = match &frame.kind {
                    FrameKind::SameLocals1(t) | FrameKind::SameLocals1Extended(t) => std::slice::from_ref(t),
                    FrameKind::Append(locals) => locals,
                    FrameKind::Full { locals, stack } => &[&locals[..], stack].concat(),
                    FrameKind::Same | FrameKind::SameExtended | FrameKind::Chop(_) => &[],
                };
                for t in types {
                    if let VerificationType::Uninitialized(bci) = *t {
                        expect(starts.contains(bci.into()) && is_new(bci), "uninitialized type in a frame");
                    }
                }
            }
        }
        AttributeInfo::LineNumberTable(lines) => {
            // JVMS 4.7.12: an index into the code, not necessarily of an instruction. Wrappers have
            // one inside their first instruction.
            lines.iter().for_each(|l| expect(u32::from(l.start) < code.length(), "bytecode index of a line"));
        }
        AttributeInfo::LocalVariableTable(variables) => {
            for LocalVariable { start, length, descriptor, .. } in variables {
                let end = u32::from(*start) + u32::from(*length);
                expect(starts.contains(u32::from(*start)) || *length == 0, "start of a variable");
                expect(end == code.length() || starts.contains(end), "end of a variable");
                expect(pool.utf8(*descriptor).is_ok_and(|d| field_type(d).is_ok()), "type of a variable");
            }
        }
        _ => {}
    }
}
