//! The reading of `crates/classfile`, on which the rewriter and the checks depend.

use std::borrow::Cow;

use cct_classfile::attributes::type_annotations::{PathStep, Target, TypeAnnotation};
use cct_classfile::attributes::{AttributeInfo, LocalVariable};
use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::FieldType;
use cct_classfile::edit::frames::{Signature, VerificationType as V, read as read_frames};
use cct_classfile::{
    Attribute as RawAttribute, ClassFile, Code as RawCode, ConstantPool, Index, Instruction,
    Member as RawMember, MemberConstant, NameAndType, Result, mutf8, opcode,
};

use super::model::{
    Attribute, CLASS_FLAGS, Class, Code, Constant, Content, FIELD_FLAGS, Frame, Handler, METHOD_FLAGS,
    Member, Operand, Operation, Place, Reference, Type, Variable,
};
use super::reading::{ClassView, Unread};

/// Larger class files are not read a second time: cafebabe needs about 90 times the size of code in
/// memory.
const MAX_SIZE: usize = 1 << 22;
/// Maximum number of pairs of a dynamic constant and an attribute: cafebabe searches all attributes
/// of the class for each dynamic constant.
const MAX_PAIRS: usize = 1 << 22;
/// Maximum number of types that the frames of one method may state together.
const MAX_TYPES: usize = 1 << 20;

/// Attributes that both readers know and whose content is not compared ([`Content::Name`]).
const NAMES: [&[u8]; 24] = [
    b"AnnotationDefault",
    b"BootstrapMethods",
    b"Code",
    b"ConstantValue",
    b"Deprecated",
    b"EnclosingMethod",
    b"Exceptions",
    b"InnerClasses",
    b"MethodParameters",
    b"Module",
    b"ModuleMainClass",
    b"ModulePackages",
    b"NestHost",
    b"NestMembers",
    b"PermittedSubclasses",
    b"RuntimeInvisibleAnnotations",
    b"RuntimeInvisibleParameterAnnotations",
    b"RuntimeVisibleAnnotations",
    b"RuntimeVisibleParameterAnnotations",
    b"Signature",
    b"SourceDebugExtension",
    b"SourceFile",
    b"StackMapTable",
    b"Synthetic",
];

/// A class that `crates/classfile` read.
#[derive(Debug)]
pub struct OwnReader<'c, 'a> {
    class: &'c ClassFile<'a>,
    codes: Vec<Option<RawCode<'a>>>,
}

/// The owner of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Class,
    Member,
    Code,
    Component,
}

impl<'c, 'a> OwnReader<'c, 'a> {
    /// Reads enough of a class to show that cafebabe reads it in bounded time, memory and depth.
    /// cafebabe allocates the announced size of a switch, and follows nested attributes and
    /// annotations without a limit.
    ///
    /// # Errors
    /// If it does not, or if the class cannot be read.
    pub fn of(class: &'c ClassFile<'a>) -> Result<Self, Unread> {
        if class.bytes.len() > MAX_SIZE {
            return Err(Unread::TooLarge("the file has more than 4 MB"));
        }
        class.pool.validate()?;
        let (mut dynamic, mut names) = (0, Vec::new());
        for index in class.pool.indices() {
            match class.pool.tag(index) {
                Some(tag::DYNAMIC | tag::INVOKE_DYNAMIC) => dynamic += 1,
                Some(tag::NAME_AND_TYPE) => names.push(class.pool.name_and_type(index)?.descriptor),
                _ => {}
            }
        }
        if dynamic * class.attributes.len() > MAX_PAIRS {
            return Err(Unread::TooLarge("too many dynamic constants and attributes"));
        }
        // Only for a string can cafebabe say that it is no text of Rust.
        if names.into_iter().any(|name| mutf8::decode_lossy(name).contains(char::REPLACEMENT_CHARACTER)) {
            return Err(Unread::TooLarge("a descriptor with half a surrogate pair"));
        }
        vet(&class.pool, class.attributes.iter(), Holder::Class)?;
        for member in class.fields.iter().chain(&class.methods) {
            vet(&class.pool, member.attributes.iter(), Holder::Member)?;
        }
        if class.fields.iter().any(|field| field.attributes.find(b"Code").is_some()) {
            return Err(Unread::Misplaced("Code"));
        }
        let codes = class.methods.iter().map(|method| RawCode::of(class, method));
        let codes = codes.collect::<Result<Vec<_>>>()?;
        for code in codes.iter().flatten() {
            vet(&class.pool, code.attributes.iter(), Holder::Code)?;
        }
        Ok(OwnReader { class, codes })
    }

    fn members(&self, members: &[RawMember<'a>], flags: u16) -> Result<Vec<Member<'a>>> {
        let member = |member: &RawMember<'a>| {
            Ok(Member {
                flags: member.access_flags & flags,
                name: Cow::Borrowed(member.name),
                descriptor: Cow::Borrowed(member.descriptor),
                attributes: attributes(&self.class.pool, member.attributes.iter())?,
            })
        };
        members.iter().map(member).collect()
    }

    fn frames(&self, method: &RawMember<'a>, code: &RawCode<'a>) -> Result<Vec<Frame<'a>>, Unread> {
        let Some(attribute) = code.attributes.find(b"StackMapTable") else { return Ok(Vec::new()) };
        let signature = Signature::of(self.class, method)?;
        let frames = read_frames(attribute.cursor(), signature.initial_locals())?;
        if frames.iter().map(|(_, frame)| frame.locals.len() + frame.stack.len()).sum::<usize>() > MAX_TYPES {
            return Err(Unread::TooLarge("more than 1,048,576 types in the frames of a method"));
        }
        let arguments: Vec<_> = signature.descriptor.arguments().collect();
        let named = |types: &[V]| {
            types
                .iter()
                .map(|t| self.named(signature.is_static, &arguments, *t))
                .collect::<Result<Vec<_>, _>>()
        };
        let frame = |(bci, frame): &(_, cct_classfile::edit::frames::Frame)| {
            Ok(Frame { bci: *bci, locals: named(&frame.locals)?, stack: named(&frame.stack)? })
        };
        frames.iter().map(frame).collect()
    }

    fn named(&self, is_static: bool, arguments: &[FieldType<'a>], t: V) -> Result<Type<'a>, Unread> {
        Ok(match t {
            V::Top => Type::Top,
            V::Integer => Type::Integer,
            V::Float => Type::Float,
            V::Long => Type::Long,
            V::Double => Type::Double,
            V::Null => Type::Null,
            V::UninitializedThis => Type::UninitializedThis,
            V::Uninitialized(bci) => Type::Uninitialized(bci),
            V::Object(index) => Type::Object(Cow::Borrowed(self.class.pool.class(index)?)),
            V::Argument(0) if !is_static => Type::Object(Cow::Borrowed(self.class.name())),
            V::Argument(number) => match arguments.get(usize::from(number) - usize::from(!is_static)) {
                Some(FieldType::Class(name) | FieldType::Array(name)) => Type::Object(Cow::Borrowed(*name)),
                _ => return Err(Unread::Misplaced("StackMapTable")),
            },
        })
    }
}

impl<'a> ClassView<'a> for OwnReader<'_, 'a> {
    fn class(&self) -> Result<Class<'a>, Unread> {
        let class = self.class;
        let constants = class.pool.indices().filter_map(|index| constant(&class.pool, index).transpose());
        Ok(Class {
            version: (class.major_version, class.minor_version),
            flags: class.access_flags & CLASS_FLAGS,
            name: Cow::Borrowed(class.name()),
            superclass: class.super_name().map(Cow::Borrowed),
            interfaces: class.interface_names().map(Cow::Borrowed).collect(),
            constants: constants.collect::<Result<_>>()?,
            fields: self.members(&class.fields, FIELD_FLAGS)?,
            methods: self.members(&class.methods, METHOD_FLAGS)?,
            attributes: attributes(&class.pool, class.attributes.iter())?,
        })
    }

    fn code(&self, method: usize) -> Result<Option<Code<'a>>, Unread> {
        let pool = &self.class.pool;
        let Some(code) = &self.codes[method] else { return Ok(None) };
        let operation =
            |i: Instruction<'a>| Ok(Operation { bci: i.bci, opcode: i.opcode, operand: operand(pool, &i)? });
        let handler = |handler: &cct_classfile::Handler| {
            let caught = handler.catch_type;
            let caught = (caught != 0).then(|| pool.class(caught).map(Cow::Borrowed)).transpose()?;
            Ok(Handler { range: (handler.start, handler.end), handler: handler.handler, caught })
        };
        Ok(Some(Code {
            limits: (code.max_stack, code.max_locals),
            bytes: code.bytes,
            operations: code.instructions().map(operation).collect::<Result<_>>()?,
            handlers: code.handlers.iter().map(handler).collect::<Result<_>>()?,
            frames: self.frames(&self.class.methods[method], code)?,
            attributes: attributes(pool, code.attributes.iter())?,
        }))
    }
}

/// Refuses attributes in which cafebabe would look for others of the same kind, and annotations
/// that are nested too deeply.
fn vet<'a: 'l, 'l>(
    pool: &ConstantPool<'a>,
    list: impl Iterator<Item = &'l RawAttribute<'a>>,
    holder: Holder,
) -> Result<(), Unread> {
    for attribute in list {
        match attribute.name {
            b"Code" if holder != Holder::Member => return Err(Unread::Misplaced("Code")),
            b"Record" if holder != Holder::Class => return Err(Unread::Misplaced("Record")),
            b"StackMapTable" if holder != Holder::Code => return Err(Unread::Misplaced("StackMapTable")),
            b"Record" => {
                if let AttributeInfo::Record(components) = AttributeInfo::parse(attribute, pool)? {
                    for component in &components {
                        vet(pool, component.attributes.iter(), Holder::Component)?;
                    }
                }
            }
            name if name.windows(10).any(|part| part == b"Annotation") => {
                AttributeInfo::parse(attribute, pool)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn attributes<'a: 'l, 'l>(
    pool: &ConstantPool<'a>,
    list: impl Iterator<Item = &'l RawAttribute<'a>>,
) -> Result<Vec<Attribute<'a>>> {
    let attribute = |attribute: &RawAttribute<'a>| {
        Ok(Attribute { name: Cow::Borrowed(attribute.name), content: content(pool, attribute)? })
    };
    list.map(attribute).collect()
}

fn content<'a>(pool: &ConstantPool<'a>, attribute: &RawAttribute<'a>) -> Result<Content<'a>> {
    use AttributeInfo as A;
    let variable = |v: &LocalVariable| {
        Ok(Variable {
            range: (v.start, v.length),
            name: Cow::Borrowed(pool.utf8(v.name)?),
            descriptor: Cow::Borrowed(pool.utf8(v.descriptor)?),
            slot: v.slot,
        })
    };
    if NAMES.contains(&attribute.name) {
        return Ok(Content::Name);
    }
    Ok(match A::parse(attribute, pool)? {
        A::LineNumberTable(lines) => {
            Content::Lines(lines.iter().map(|line| (line.start, line.line)).collect())
        }
        A::LocalVariableTable(list) | A::LocalVariableTypeTable(list) => {
            Content::Variables(list.iter().map(variable).collect::<Result<_>>()?)
        }
        A::RuntimeVisibleTypeAnnotations(list) | A::RuntimeInvisibleTypeAnnotations(list) => {
            Content::Places(list.iter().map(place).collect())
        }
        A::Record(components) => {
            let component = |c: &cct_classfile::attributes::record::RecordComponent<'a>| {
                let (name, descriptor) = (pool.utf8(c.name)?, pool.utf8(c.descriptor)?);
                let list = attributes(pool, c.attributes.iter())?;
                Ok((Cow::Borrowed(name), Cow::Borrowed(descriptor), list))
            };
            Content::Components(components.iter().map(component).collect::<Result<_>>()?)
        }
        _ => Content::Bytes(attribute.data),
    })
}

fn place(annotation: &TypeAnnotation<'_>) -> Place {
    let target = match &annotation.target {
        Target::TypeParameter(n) | Target::FormalParameter(n) => vec![u16::from(*n)],
        Target::Supertype(n) | Target::Throws(n) | Target::Catch(n) | Target::Instruction(n) => vec![*n],
        Target::TypeParameterBound { parameter, bound } => vec![u16::from(*parameter), u16::from(*bound)],
        Target::Empty => Vec::new(),
        Target::LocalVariable(ranges) => ranges.iter().flat_map(|r| [r.start, r.length, r.slot]).collect(),
        Target::TypeArgument { bci, argument } => vec![*bci, u16::from(*argument)],
    };
    let step = |step| match step {
        PathStep::ArrayElement => (0, 0),
        PathStep::Nested => (1, 0),
        PathStep::WildcardBound => (2, 0),
        PathStep::TypeArgument(n) => (3, n),
    };
    Place { target, path: annotation.path.steps().map(step).collect() }
}

/// A constant; `None` for a `CONSTANT_Utf8`.
fn constant<'a>(pool: &ConstantPool<'a>, index: Index) -> Result<Option<Constant<'a>>> {
    let text = |tag, text: &'a [u8]| Constant::Text(tag, Cow::Borrowed(text));
    Ok(Some(match pool.tag(index) {
        Some(tag::INTEGER) => Constant::Integer(pool.integer(index)?),
        Some(tag::FLOAT) => Constant::Float(pool.float(index)?.to_bits()),
        Some(tag::LONG) => Constant::Long(pool.long(index)?),
        Some(tag::DOUBLE) => Constant::Double(pool.double(index)?.to_bits()),
        Some(tag @ tag::CLASS) => text(tag, pool.class(index)?),
        Some(tag @ tag::STRING) => text(tag, pool.string(index)?),
        Some(tag @ tag::METHOD_TYPE) => text(tag, pool.method_type(index)?),
        Some(tag @ tag::MODULE) => text(tag, pool.module(index)?),
        Some(tag @ tag::PACKAGE) => text(tag, pool.package(index)?),
        Some(tag @ (tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF)) => {
            Constant::Member(tag, reference(pool, index)?.1)
        }
        Some(tag::NAME_AND_TYPE) => {
            let NameAndType { name, descriptor } = pool.name_and_type(index)?;
            Constant::NameAndType(Cow::Borrowed(name), Cow::Borrowed(descriptor))
        }
        Some(tag::METHOD_HANDLE) => {
            let (kind, of) = pool.method_handle(index)?;
            let (tag, reference) = reference(pool, of)?;
            Constant::MethodHandle(kind, tag, reference)
        }
        Some(tag @ (tag::DYNAMIC | tag::INVOKE_DYNAMIC)) => {
            let (bootstrap, NameAndType { name, descriptor }) = pool.dynamic(index)?;
            Constant::Dynamic(tag, bootstrap, Cow::Borrowed(name), Cow::Borrowed(descriptor))
        }
        _ => return pool.utf8(index).map(|_| None),
    }))
}

fn reference<'a>(pool: &ConstantPool<'a>, index: Index) -> Result<(u8, Reference<'a>)> {
    let MemberConstant { tag, member, .. } = pool.member_constant(index)?;
    let reference = Reference {
        class: Cow::Borrowed(member.class),
        name: Cow::Borrowed(member.name),
        descriptor: Cow::Borrowed(member.descriptor),
    };
    Ok((tag, reference))
}

fn operand<'a>(pool: &ConstantPool<'a>, i: &Instruction<'a>) -> Result<Operand<'a>> {
    if let Some(index) = i.pool_index() {
        // No instruction has a CONSTANT_Utf8: such an index is refused here.
        let constant = match constant(pool, index)? {
            Some(constant) => constant,
            None => Constant::Text(tag::UTF8, Cow::Borrowed(pool.utf8(index)?)),
        };
        return Ok(match (i.opcode, constant) {
            // cafebabe does not say which of the two tags it has.
            (opcode::INVOKESPECIAL | opcode::INVOKESTATIC, Constant::Member(_, reference)) => {
                Operand::Constant(Constant::Member(0, reference))
            }
            (opcode::INVOKEINTERFACE | opcode::MULTIANEWARRAY, constant) => {
                Operand::Counted(constant, i.bytes[3])
            }
            (_, constant) => Operand::Constant(constant),
        });
    }
    if let Some(target) = i.target() {
        return Ok(Operand::Jump(target));
    }
    if let Some(switch) = i.switch() {
        return Ok(Operand::Switch(switch.default_target(), switch.cases().collect()));
    }
    let last = i.bytes.len() - 1;
    Ok(match (i.opcode, i.local()) {
        (opcode::IINC, Some((slot, _))) if i.is_wide() => {
            Operand::Increment(slot, i16::from_be_bytes([i.bytes[last - 1], i.bytes[last]]))
        }
        (opcode::IINC, Some((slot, _))) => Operand::Increment(slot, i16::from(i.bytes[last] as i8)),
        (_, Some((slot, is_wide))) => Operand::Local(slot, is_wide),
        (opcode::BIPUSH, _) => Operand::Number(i32::from(i.bytes[1] as i8)),
        (opcode::SIPUSH, _) => Operand::Number(i32::from(i16::from_be_bytes([i.bytes[1], i.bytes[2]]))),
        (opcode::NEWARRAY, _) => Operand::Number(i32::from(i.bytes[1])),
        _ => Operand::None,
    })
}
