//! The reading of the crate `cafebabe`, of which neither rewriter nor checks know anything.
//!
//! It has no indices of constants, no raw bytes of known attributes, and one opcode for all forms
//! of a load or store. So constants are compared by their content, and opcodes come from the code's
//! bytes, where cafebabe finds an instruction.

use std::borrow::Cow;

use cafebabe::attributes::{
    AttributeData as A, AttributeInfo, CodeData, StackMapEntry, TypeAnnotation,
    TypeAnnotationTarget as Target, TypeAnnotationTargetPathKind as Step, VerificationType as V,
};
use cafebabe::bytecode::{Opcode, PrimitiveArrayType as Primitive};
use cafebabe::constant_pool::{
    ConstantPoolItem as Item, LiteralConstant as Literal, Loadable, MemberKind, MemberRef, MethodHandle,
    NameAndType, ObjectArrayType, ReferenceKind,
};
use cafebabe::descriptors::FieldType;
use cafebabe::{ClassFile, MethodAccessFlags, MethodInfo};
use cct_classfile::constant_pool::tag;
use cct_classfile::{Bci, mutf8, opcode};

use super::model::{
    Attribute, Class, Code, Constant, Content, Frame, Handler, Member, Operand, Operation, Place, Reference,
    Text, Type, Variable,
};
use super::reading::{ClassView, Unread};

/// A class that cafebabe read.
#[derive(Debug)]
pub struct Second<'a>(pub &'a ClassFile<'a>);

impl<'a> ClassView<'a> for Second<'a> {
    fn class(&self) -> Result<Class<'a>, Unread> {
        let class = self.0;
        let field = |field: &cafebabe::FieldInfo<'a>| Member {
            flags: field.access_flags.bits(),
            name: text(&field.name),
            descriptor: shown(&field.descriptor),
            attributes: attributes(&field.attributes),
        };
        let method = |method: &MethodInfo<'a>| Member {
            flags: method.access_flags.bits(),
            name: text(&method.name),
            descriptor: shown(&method.descriptor),
            attributes: attributes(&method.attributes),
        };
        Ok(Class {
            version: (class.major_version, class.minor_version),
            flags: class.access_flags.bits(),
            name: text(&class.this_class.clone().into()),
            superclass: class.super_class.as_ref().map(|name| text(&name.clone().into())),
            interfaces: class.interfaces.iter().map(|name| text(&name.clone().into())).collect(),
            constants: class.constantpool_iter().map(constant).collect(),
            fields: class.fields.iter().map(field).collect(),
            methods: class.methods.iter().map(method).collect(),
            attributes: attributes(&class.attributes),
        })
    }

    fn code(&self, method: usize) -> Result<Option<Code<'a>>, Unread> {
        let Some(method) = self.0.methods.get(method) else { return Ok(None) };
        let Some(code) = method.attributes.iter().find_map(|attribute| match &attribute.data {
            A::Code(code) => Some(code),
            _ => None,
        }) else {
            return Ok(None);
        };
        let handlers = code.exception_table.iter().map(|entry| Handler {
            range: (entry.start_pc.into(), entry.end_pc.into()),
            handler: entry.handler_pc.into(),
            caught: entry.catch_type.as_ref().map(text),
        });
        Ok(Some(Code {
            limits: (code.max_stack, code.max_locals),
            bytes: code.code,
            operations: operations(code),
            handlers: handlers.collect(),
            frames: self.frames(method, code),
            attributes: attributes(&code.attributes),
        }))
    }
}

impl<'a> Second<'a> {
    /// The frames of a method, each with its whole state.
    fn frames(&self, method: &MethodInfo<'a>, code: &CodeData<'a>) -> Vec<Frame<'a>> {
        let entries = code.attributes.iter().find_map(|attribute| match &attribute.data {
            A::StackMapTable(entries) => Some(entries),
            _ => None,
        });
        let mut locals = self.initial(method);
        let mut next = 0;
        let mut frames = Vec::new();
        for entry in entries.into_iter().flatten() {
            let mut stack = Vec::new();
            let delta = match entry {
                StackMapEntry::Same { offset_delta } => offset_delta,
                StackMapEntry::SameLocals1StackItem { offset_delta, stack: item } => {
                    stack.push(verified(item));
                    offset_delta
                }
                StackMapEntry::Chop { offset_delta, chop_count } => {
                    locals.truncate(locals.len().saturating_sub(usize::from(*chop_count)));
                    offset_delta
                }
                StackMapEntry::Append { offset_delta, locals: more } => {
                    locals.extend(more.iter().map(verified));
                    offset_delta
                }
                StackMapEntry::FullFrame { offset_delta, locals: all, stack: items } => {
                    locals = all.iter().map(verified).collect();
                    stack = items.iter().map(verified).collect();
                    offset_delta
                }
            };
            let bci = next + Bci::from(*delta);
            next = bci + 1;
            frames.push(Frame { bci, locals: locals.clone(), stack });
        }
        frames
    }

    /// The locals at the start of a method.
    fn initial(&self, method: &MethodInfo<'a>) -> Vec<Type<'a>> {
        let mut locals = Vec::new();
        if !method.access_flags.contains(MethodAccessFlags::STATIC) {
            let is_constructor = method.name == "<init>" && self.0.super_class.is_some();
            locals.push(if is_constructor {
                Type::UninitializedThis
            } else {
                Type::Object(text(&self.0.this_class.clone().into()))
            });
        }
        locals.extend(method.descriptor.parameters.iter().map(|parameter| {
            match (&parameter.field_type, parameter.dimensions) {
                (_, 1..) => Type::Object(shown(parameter)),
                (FieldType::Object(name), 0) => Type::Object(text(&name.clone().into())),
                (FieldType::Long, 0) => Type::Long,
                (FieldType::Double, 0) => Type::Double,
                (FieldType::Float, 0) => Type::Float,
                _ => Type::Integer,
            }
        }));
        locals
    }
}

fn verified<'a>(item: &V<'a>) -> Type<'a> {
    match item {
        V::Top => Type::Top,
        V::Integer => Type::Integer,
        V::Float => Type::Float,
        V::Long => Type::Long,
        V::Double => Type::Double,
        V::Null => Type::Null,
        V::UninitializedThis => Type::UninitializedThis,
        V::Uninitialized { code_offset } => Type::Uninitialized((*code_offset).into()),
        V::Object { class_name } => Type::Object(text(class_name)),
    }
}

/// A text as in the file: cafebabe has not changed what it borrows.
fn text<'a>(text: &Cow<'a, str>) -> Text<'a> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(mutf8::encode(text).into_owned()),
    }
}

/// A descriptor, which cafebabe has parsed.
fn shown<'a>(descriptor: &impl std::fmt::Display) -> Text<'a> {
    Cow::Owned(mutf8::encode(&descriptor.to_string()).into_owned())
}

fn attributes<'a>(list: &[AttributeInfo<'a>]) -> Vec<Attribute<'a>> {
    list.iter().map(|a| Attribute { name: text(&a.name), content: content(&a.data) }).collect()
}

fn content<'a>(data: &A<'a>) -> Content<'a> {
    let variable =
        |range, name: &Cow<'a, str>, descriptor, slot| Variable { range, name: text(name), descriptor, slot };
    match data {
        A::LineNumberTable(lines) => {
            Content::Lines(lines.iter().map(|line| (line.start_pc, line.line_number)).collect())
        }
        A::LocalVariableTable(list) => Content::Variables(
            list.iter()
                .map(|v| variable((v.start_pc, v.length), &v.name, shown(&v.descriptor), v.index))
                .collect(),
        ),
        A::LocalVariableTypeTable(list) => Content::Variables(
            list.iter()
                .map(|v| variable((v.start_pc, v.length), &v.name, text(&v.signature), v.index))
                .collect(),
        ),
        A::RuntimeVisibleTypeAnnotations(list) | A::RuntimeInvisibleTypeAnnotations(list) => {
            Content::Places(list.iter().map(place).collect())
        }
        A::Record(components) => Content::Components(
            components
                .iter()
                .map(|c| (text(&c.name), shown(&c.descriptor), attributes(&c.attributes)))
                .collect(),
        ),
        A::Other(bytes) => Content::Bytes(bytes),
        _ => Content::Name,
    }
}

fn place(annotation: &TypeAnnotation<'_>) -> Place {
    let target = match &annotation.target_type {
        Target::TypeParameter { index } | Target::FormalParameter { index } => vec![u16::from(*index)],
        Target::Supertype { index } | Target::Throws { index } => vec![*index],
        Target::Catch { exception_table_index } => vec![*exception_table_index],
        Target::Offset { offset } => vec![*offset],
        Target::TypeParameterBound { type_parameter_index, bound_index } => {
            vec![u16::from(*type_parameter_index), u16::from(*bound_index)]
        }
        Target::Empty => Vec::new(),
        Target::LocalVar(ranges) => ranges.iter().flat_map(|r| [r.start_pc, r.length, r.index]).collect(),
        Target::TypeArgument { offset, type_argument_index } => {
            vec![*offset, u16::from(*type_argument_index)]
        }
    };
    let step = |entry: &cafebabe::attributes::TypeAnnotationTargetPathEntry| match entry.path_kind {
        Step::DeeperArray => (0, 0),
        Step::DeeperNested => (1, 0),
        Step::WildcardTypeArgument => (2, 0),
        Step::TypeArgument => (3, entry.argument_index),
    };
    Place { target, path: annotation.target_path.iter().map(step).collect() }
}

fn constant(item: Item<'_>) -> Constant<'_> {
    match item {
        Item::LiteralConstant(value) => literal(&value),
        Item::ClassInfo(name) => Constant::Text(tag::CLASS, text(&name)),
        Item::FieldRef(member) => Constant::Member(tag::FIELDREF, reference(&member)),
        Item::MethodRef(member) => Constant::Member(tag::METHODREF, reference(&member)),
        Item::InterfaceMethodRef(member) => Constant::Member(tag::INTERFACE_METHODREF, reference(&member)),
        Item::NameAndType(both) => Constant::NameAndType(text(&both.name), text(&both.descriptor)),
        Item::MethodHandle(handle) => method_handle(&handle),
        Item::MethodType(descriptor) => Constant::Text(tag::METHOD_TYPE, text(&descriptor)),
        Item::Dynamic(it) => dynamic(tag::DYNAMIC, it.attr_index, &it.name_and_type),
        Item::InvokeDynamic(it) => dynamic(tag::INVOKE_DYNAMIC, it.attr_index, &it.name_and_type),
        Item::ModuleInfo(name) => Constant::Text(tag::MODULE, text(&name)),
        Item::PackageInfo(name) => Constant::Text(tag::PACKAGE, text(&name)),
    }
}

fn literal<'a>(value: &Literal<'a>) -> Constant<'a> {
    match value {
        Literal::Integer(value) => Constant::Integer(*value),
        Literal::Float(value) => Constant::Float(value.to_bits()),
        Literal::Long(value) => Constant::Long(*value),
        Literal::Double(value) => Constant::Double(value.to_bits()),
        Literal::String(value) => Constant::Text(tag::STRING, text(value)),
        Literal::StringBytes(bytes) => Constant::Text(tag::STRING, Cow::Borrowed(bytes)),
    }
}

fn dynamic<'a>(tag: u8, bootstrap: u16, both: &NameAndType<'a>) -> Constant<'a> {
    Constant::Dynamic(tag, bootstrap, text(&both.name), text(&both.descriptor))
}

fn reference<'a>(member: &MemberRef<'a>) -> Reference<'a> {
    let NameAndType { name, descriptor } = &member.name_and_type;
    Reference { class: text(&member.class_name), name: text(name), descriptor: text(descriptor) }
}

fn method_handle<'a>(handle: &MethodHandle<'a>) -> Constant<'a> {
    let kind = match handle.kind {
        ReferenceKind::GetField => 1,
        ReferenceKind::GetStatic => 2,
        ReferenceKind::PutField => 3,
        ReferenceKind::PutStatic => 4,
        ReferenceKind::InvokeVirtual => 5,
        ReferenceKind::InvokeStatic => 6,
        ReferenceKind::InvokeSpecial => 7,
        ReferenceKind::NewInvokeSpecial => 8,
        ReferenceKind::InvokeInterface => 9,
    };
    let tag = match handle.member_kind {
        MemberKind::Field => tag::FIELDREF,
        MemberKind::Method => tag::METHODREF,
        MemberKind::InterfaceMethod => tag::INTERFACE_METHODREF,
    };
    let NameAndType { name, descriptor } = &handle.member_ref;
    let class = text(&handle.class_name);
    Constant::MethodHandle(kind, tag, Reference { class, name: text(name), descriptor: text(descriptor) })
}

fn loadable<'a>(constant: &Loadable<'a>) -> Constant<'a> {
    match constant {
        Loadable::LiteralConstant(value) => literal(value),
        Loadable::ClassInfo(name) => Constant::Text(tag::CLASS, text(name)),
        Loadable::MethodHandle(handle) => method_handle(handle),
        Loadable::MethodType(descriptor) => Constant::Text(tag::METHOD_TYPE, text(descriptor)),
        Loadable::Dynamic(it) => dynamic(tag::DYNAMIC, it.attr_index, &it.name_and_type),
    }
}

fn class<'a>(class: &ObjectArrayType<'a>) -> Constant<'a> {
    let name = match class {
        ObjectArrayType::ArrayType(descriptor) => shown(descriptor),
        ObjectArrayType::BinaryName(name) => text(name),
    };
    Constant::Text(tag::CLASS, name)
}

fn operations<'a>(code: &CodeData<'a>) -> Vec<Operation<'a>> {
    let found = code.bytecode.iter().flat_map(|bytecode| &bytecode.opcodes);
    let operation = |(at, what): &(usize, Opcode<'a>)| {
        let byte = |at: usize| code.code.get(at).copied().unwrap_or_default();
        let is_wide = byte(*at) == opcode::WIDE;
        let bci = *at as Bci;
        Operation { bci, opcode: byte(*at + usize::from(is_wide)), operand: operand(bci, what) }
    };
    found.map(operation).collect()
}

fn operand<'a>(bci: Bci, what: &Opcode<'a>) -> Operand<'a> {
    use Opcode as O;
    let to = |offset: i32| bci.wrapping_add_signed(offset);
    match what {
        O::Bipush(n) => Operand::Number(i32::from(*n)),
        O::Sipush(n) => Operand::Number(i32::from(*n)),
        O::Newarray(primitive) => Operand::Number(match primitive {
            Primitive::Boolean => 4,
            Primitive::Char => 5,
            Primitive::Float => 6,
            Primitive::Double => 7,
            Primitive::Byte => 8,
            Primitive::Short => 9,
            Primitive::Int => 10,
            Primitive::Long => 11,
        }),
        O::Iload(n) | O::Fload(n) | O::Aload(n) => Operand::Local(*n, false),
        O::Istore(n) | O::Fstore(n) | O::Astore(n) | O::Ret(n) => Operand::Local(*n, false),
        O::Lload(n) | O::Dload(n) | O::Lstore(n) | O::Dstore(n) => Operand::Local(*n, true),
        O::Iinc(n, by) => Operand::Increment(*n, *by),
        O::Goto(by) | O::Jsr(by) | O::Ifnull(by) | O::Ifnonnull(by) => Operand::Jump(to(*by)),
        O::Ifeq(by) | O::Ifne(by) | O::Iflt(by) | O::Ifge(by) | O::Ifgt(by) | O::Ifle(by) => {
            Operand::Jump(to(*by))
        }
        O::IfIcmpeq(by) | O::IfIcmpne(by) | O::IfIcmplt(by) | O::IfIcmpge(by) | O::IfIcmpgt(by) => {
            Operand::Jump(to(*by))
        }
        O::IfIcmple(by) | O::IfAcmpeq(by) | O::IfAcmpne(by) => Operand::Jump(to(*by)),
        O::Tableswitch(table) => {
            let cases = (table.low..=table.high).zip(&table.jumps).map(|(case, by)| (case, to(*by)));
            Operand::Switch(to(table.default), cases.collect())
        }
        O::Lookupswitch(table) => {
            let cases = table.match_offsets.iter().map(|(case, by)| (*case, to(*by)));
            Operand::Switch(to(table.default), cases.collect())
        }
        O::Ldc(constant) | O::LdcW(constant) | O::Ldc2W(constant) => Operand::Constant(loadable(constant)),
        O::Getfield(field) | O::Putfield(field) | O::Getstatic(field) | O::Putstatic(field) => {
            Operand::Constant(Constant::Member(tag::FIELDREF, reference(field)))
        }
        O::Invokevirtual(method) => Operand::Constant(Constant::Member(tag::METHODREF, reference(method))),
        // cafebabe does not say whether the reference is one to an interface's method; the list of
        // constants does.
        O::Invokespecial(method) | O::Invokestatic(method) => {
            Operand::Constant(Constant::Member(0, reference(method)))
        }
        O::Invokeinterface(method, count) => {
            Operand::Counted(Constant::Member(tag::INTERFACE_METHODREF, reference(method)), *count)
        }
        O::Invokedynamic(it) => {
            Operand::Constant(dynamic(tag::INVOKE_DYNAMIC, it.attr_index, &it.name_and_type))
        }
        O::New(name) => Operand::Constant(Constant::Text(tag::CLASS, text(name))),
        O::Anewarray(of) | O::Checkcast(of) | O::Instanceof(of) => Operand::Constant(class(of)),
        O::Multianewarray(of, dimensions) => Operand::Counted(class(of), *dimensions),
        _ => Operand::None,
    }
}
