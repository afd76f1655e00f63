//! The content of a class file, in terms that belong to no reader.

use std::borrow::Cow;

use cct_classfile::Bci;

/// Modified UTF-8, as in the file.
pub type Text<'a> = Cow<'a, [u8]>;

/// Flags of classes that JVMS table 4.1-B knows; cafebabe drops others.
pub const CLASS_FLAGS: u16 = 0xF631;
/// Flags of fields that JVMS table 4.5-A knows.
pub const FIELD_FLAGS: u16 = 0x50DF;
/// Flags of methods that JVMS table 4.6-A knows.
pub const METHOD_FLAGS: u16 = 0x1DFF;

/// A class, without the code of its methods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class<'a> {
    /// `major_version` and `minor_version`.
    pub version: (u16, u16),
    /// The flags among [`CLASS_FLAGS`].
    pub flags: u16,
    /// Internal name.
    pub name: Text<'a>,
    /// Internal name of the superclass.
    pub superclass: Option<Text<'a>>,
    /// Internal names of the direct superinterfaces.
    pub interfaces: Vec<Text<'a>>,
    /// The constants in order, without `CONSTANT_Utf8`.
    pub constants: Vec<Constant<'a>>,
    /// The fields.
    pub fields: Vec<Member<'a>>,
    /// The methods.
    pub methods: Vec<Member<'a>>,
    /// The class's own attributes.
    pub attributes: Vec<Attribute<'a>>,
}

/// A field or method, without its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member<'a> {
    /// The flags among [`FIELD_FLAGS`] or [`METHOD_FLAGS`].
    pub flags: u16,
    /// Name.
    pub name: Text<'a>,
    /// Descriptor.
    pub descriptor: Text<'a>,
    /// Attributes.
    pub attributes: Vec<Attribute<'a>>,
}

/// An attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// Name.
    pub name: Text<'a>,
    /// The compared part of its content.
    pub content: Content<'a>,
}

/// The content of an attribute, as far as both readers read it and the checks depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// Not compared: the checks compare its bytes. `Code` and `StackMapTable` are compared with
    /// [`Code`].
    Name,
    /// The bytes of an attribute that cafebabe does not know.
    Bytes(&'a [u8]),
    /// First bytecode index and line.
    Lines(Vec<(u16, u16)>),
    /// Local variables, with descriptors or signatures.
    Variables(Vec<Variable<'a>>),
    /// The places of type annotations.
    Places(Vec<Place>),
    /// Components of a record: name, descriptor, attributes.
    Components(Vec<(Text<'a>, Text<'a>, Vec<Attribute<'a>>)>),
}

/// An entry of a `LocalVariableTable` or a `LocalVariableTypeTable`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable<'a> {
    /// First bytecode index and length in bytes.
    pub range: (u16, u16),
    /// Name.
    pub name: Text<'a>,
    /// Descriptor, or generic signature.
    pub descriptor: Text<'a>,
    /// The first slot.
    pub slot: u16,
}

/// The location of a type annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The numbers of its `target_info`, in their order.
    pub target: Vec<u16>,
    /// The kinds of its path's steps, and the numbers of type arguments.
    pub path: Vec<(u8, u8)>,
}

/// A constant with everything that it refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant<'a> {
    /// `CONSTANT_Integer`.
    Integer(i32),
    /// The bits of a `CONSTANT_Float`.
    Float(u32),
    /// `CONSTANT_Long`.
    Long(i64),
    /// The bits of a `CONSTANT_Double`.
    Double(u64),
    /// A constant that is one text, with its tag: a class, string, method type, module or package.
    Text(u8, Text<'a>),
    /// A reference to a member, with its tag.
    Member(u8, Reference<'a>),
    /// `CONSTANT_NameAndType`.
    NameAndType(Text<'a>, Text<'a>),
    /// `CONSTANT_MethodHandle`: kind, and the tag of its reference.
    MethodHandle(u8, u8, Reference<'a>),
    /// `CONSTANT_Dynamic` or `CONSTANT_InvokeDynamic`: tag, number of the bootstrap method, name,
    /// descriptor.
    Dynamic(u8, u16, Text<'a>, Text<'a>),
}

/// A reference to a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'a> {
    /// Internal name of the class, or an array descriptor.
    pub class: Text<'a>,
    /// Name.
    pub name: Text<'a>,
    /// Descriptor.
    pub descriptor: Text<'a>,
}

/// The code of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code<'a> {
    /// `max_stack` and `max_locals`.
    pub limits: (u16, u16),
    /// The bytes of the instructions.
    pub bytes: &'a [u8],
    /// The instructions.
    pub operations: Vec<Operation<'a>>,
    /// The exception table.
    pub handlers: Vec<Handler<'a>>,
    /// The frames, each with its whole state.
    pub frames: Vec<Frame<'a>>,
    /// Attributes of the code.
    pub attributes: Vec<Attribute<'a>>,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<'a> {
    /// Bytecode index of the instruction.
    pub bci: Bci,
    /// Opcode; for a wide form the one after `wide`.
    pub opcode: u8,
    /// Operands of the instruction.
    pub operand: Operand<'a>,
}

/// The operands of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand<'a> {
    /// No operand.
    None,
    /// A number to push, or the type of an array's elements.
    Number(i32),
    /// A local variable, and whether it takes two slots.
    Local(u16, bool),
    /// A local variable, and the number to add to it.
    Increment(u16, i16),
    /// Target of a jump.
    Jump(Bci),
    /// The default target, and the cases with their targets.
    Switch(Bci, Vec<(i32, Bci)>),
    /// A constant.
    Constant(Constant<'a>),
    /// A constant and a byte: the count of `invokeinterface`, the dimensions of `multianewarray`.
    Counted(Constant<'a>, u8),
}

/// An entry of the exception table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handler<'a> {
    /// First covered bytecode index, and the first one after that is not covered.
    pub range: (Bci, Bci),
    /// First bytecode index of the handler.
    pub handler: Bci,
    /// Internal name of the caught class; `None` catches all.
    pub caught: Option<Text<'a>>,
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The bytecode index at which it holds.
    pub bci: Bci,
    /// Types of the locals.
    pub locals: Vec<Type<'a>>,
    /// Types of the operand stack.
    pub stack: Vec<Type<'a>>,
}

/// A verification type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type<'a> {
    Top,
    Integer,
    Float,
    Long,
    Double,
    Null,
    UninitializedThis,
    Uninitialized(Bci),
    Object(Text<'a>),
}
