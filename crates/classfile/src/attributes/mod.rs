//! The attributes of JVMS 4.7 and three of the JDK's own, as typed values that can be read, changed
//! and written.
//!
//! References to constants stay indices, as in the file, and nothing is normalised: values are
//! written back byte for byte. Reading checks the structure, and that every index names a constant
//! of the kind that the JVMS requires. It does not know the code to which a table refers;
//! [`crate::code`] checks whether a bytecode index is that of an instruction.
//!
//! An attribute is known by its name alone. Its place and the version of its class are not checked,
//! although the JVM ignores attributes in places and versions that do not know them (JVMS 4.7.1).

#![cfg_attr(test, allow(clippy::unwrap_used))]

use crate::class::Attribute;
use crate::constant_pool::ConstantPool;
use crate::error::Result;
use crate::mutf8;

pub mod annotations;
pub mod constants;
pub mod debug;
pub mod frames;
pub mod module;
pub mod nesting;
pub mod parameters;
pub mod record;
pub mod structure;
#[cfg(test)]
mod testing;
pub mod type_annotations;

pub use annotations::{Annotation, ElementPair, ElementValue, ParameterAnnotations};
pub use constants::{BootstrapMethod, ClassIndex, ConstantIndex, Utf8Index};
pub use debug::{LineNumber, LocalVariable};
pub use frames::{Frame, FrameKind, VerificationType};
pub use module::{
    Module, ModuleHash, ModuleHashes, ModuleIndex, PackageAccess, PackageIndex, ProvidedService,
    RequiredModule,
};
pub use nesting::{EnclosingMethod, InnerClass};
pub use parameters::{MethodParameter, MethodParameters};
pub use record::RecordComponent;
pub use structure::{Reader, Structure};
pub use type_annotations::{LocalRange, Target, TypeAnnotation, TypePath};

/// The content of an attribute.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum AttributeInfo<'a> {
    /// Value of a static field (4.7.2): an integer, float, long, double or string.
    ConstantValue(ConstantIndex),
    /// Code (4.7.3), unread: [`Code::of`](crate::code::Code::of) reads it.
    Code(&'a [u8]),
    /// Types at the targets of jumps (4.7.4).
    StackMapTable(Vec<Frame>),
    /// Declared exceptions of a method (4.7.5).
    Exceptions(Vec<ClassIndex>),
    /// Member classes named in this class (4.7.6).
    InnerClasses(Vec<InnerClass>),
    /// The class and method around a local class (4.7.7).
    EnclosingMethod(EnclosingMethod),
    /// Not in the source (4.7.8).
    Synthetic,
    /// Generic signature (4.7.9).
    Signature(Utf8Index),
    /// Name of the source file (4.7.10).
    SourceFile(Utf8Index),
    /// Debugging text in modified UTF-8 (4.7.11).
    SourceDebugExtension(&'a [u8]),
    /// Source lines of the code (4.7.12).
    LineNumberTable(Vec<LineNumber>),
    /// Local variables with descriptors (4.7.13).
    LocalVariableTable(Vec<LocalVariable>),
    /// Local variables with generic signatures (4.7.14).
    LocalVariableTypeTable(Vec<LocalVariable>),
    /// Deprecated (4.7.15).
    Deprecated,
    /// Annotations kept for reflection (4.7.16).
    RuntimeVisibleAnnotations(Vec<Annotation>),
    /// Annotations not kept for reflection (4.7.17).
    RuntimeInvisibleAnnotations(Vec<Annotation>),
    /// Annotations of parameters, kept for reflection (4.7.18).
    RuntimeVisibleParameterAnnotations(ParameterAnnotations),
    /// Annotations of parameters, not kept for reflection (4.7.19).
    RuntimeInvisibleParameterAnnotations(ParameterAnnotations),
    /// Annotations of types, kept for reflection (4.7.20).
    RuntimeVisibleTypeAnnotations(Vec<TypeAnnotation<'a>>),
    /// Annotations of types, not kept for reflection (4.7.21).
    RuntimeInvisibleTypeAnnotations(Vec<TypeAnnotation<'a>>),
    /// Default of an annotation interface's element (4.7.22).
    AnnotationDefault(ElementValue),
    /// Bootstrap methods of dynamic constants and call sites (4.7.23).
    BootstrapMethods(Vec<BootstrapMethod>),
    /// Names and flags of formal parameters (4.7.24).
    MethodParameters(MethodParameters),
    /// A module's declaration (4.7.25).
    Module(Module),
    /// All packages of a module (4.7.26).
    ModulePackages(Vec<PackageIndex>),
    /// Main class of a module (4.7.27).
    ModuleMainClass(ClassIndex),
    /// Host of this nest member (4.7.28).
    NestHost(ClassIndex),
    /// Members of this nest host (4.7.29).
    NestMembers(Vec<ClassIndex>),
    /// Components of a record class (4.7.30).
    Record(Vec<RecordComponent<'a>>),
    /// Direct subclasses of a sealed class (4.7.31).
    PermittedSubclasses(Vec<ClassIndex>),
    /// Operating system and architecture for which a module was built, such as `linux-amd64` (JDK
    /// only).
    ModuleTarget(Utf8Index),
    /// Flags of a module's resolution, see [`module::resolution`] (JDK only).
    ModuleResolution(u16),
    /// Hashes of the modules that may only be used together with this one (JDK only).
    ModuleHashes(ModuleHashes<'a>),
    /// An unknown attribute.
    Unknown {
        /// Name of the attribute.
        name: &'a [u8],
        /// Content of the attribute.
        data: &'a [u8],
    },
}

impl<'a> AttributeInfo<'a> {
    /// Reads an attribute; every byte must belong to it. Errors name the attribute and the offset
    /// in the class file.
    pub fn parse(attribute: &Attribute<'a>, pool: &ConstantPool<'a>) -> Result<Self> {
        let mut reader = Reader::new(attribute.cursor(), pool);
        let info = Self::read(attribute, &mut reader)
            .and_then(|info| reader.finish().map(|()| info))
            .map_err(|e| e.in_attribute(&mutf8::decode_lossy(attribute.name)))?;
        Ok(info)
    }

    fn read(attribute: &Attribute<'a>, r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(match attribute.name {
            b"ConstantValue" => Self::ConstantValue(ConstantIndex::read_field_value(r)?),
            b"Code" => Self::Code(r.rest()),
            b"StackMapTable" => Self::StackMapTable(r.read()?),
            b"Exceptions" => Self::Exceptions(r.read()?),
            b"InnerClasses" => Self::InnerClasses(r.read()?),
            b"EnclosingMethod" => Self::EnclosingMethod(r.read()?),
            b"Synthetic" => Self::Synthetic,
            b"Signature" => Self::Signature(r.read()?),
            b"SourceFile" => Self::SourceFile(r.read()?),
            b"SourceDebugExtension" => Self::SourceDebugExtension(r.rest()),
            b"LineNumberTable" => Self::LineNumberTable(r.read()?),
            b"LocalVariableTable" => Self::LocalVariableTable(r.read()?),
            b"LocalVariableTypeTable" => Self::LocalVariableTypeTable(r.read()?),
            b"Deprecated" => Self::Deprecated,
            b"RuntimeVisibleAnnotations" => Self::RuntimeVisibleAnnotations(r.read()?),
            b"RuntimeInvisibleAnnotations" => Self::RuntimeInvisibleAnnotations(r.read()?),
            b"RuntimeVisibleParameterAnnotations" => Self::RuntimeVisibleParameterAnnotations(r.read()?),
            b"RuntimeInvisibleParameterAnnotations" => Self::RuntimeInvisibleParameterAnnotations(r.read()?),
            b"RuntimeVisibleTypeAnnotations" => Self::RuntimeVisibleTypeAnnotations(r.read()?),
            b"RuntimeInvisibleTypeAnnotations" => Self::RuntimeInvisibleTypeAnnotations(r.read()?),
            b"AnnotationDefault" => Self::AnnotationDefault(r.read()?),
            b"BootstrapMethods" => Self::BootstrapMethods(r.read()?),
            b"MethodParameters" => Self::MethodParameters(r.read()?),
            b"Module" => Self::Module(r.read()?),
            b"ModulePackages" => Self::ModulePackages(r.read()?),
            b"ModuleMainClass" => Self::ModuleMainClass(r.read()?),
            b"NestHost" => Self::NestHost(r.read()?),
            b"NestMembers" => Self::NestMembers(r.read()?),
            b"Record" => Self::Record(r.read()?),
            b"PermittedSubclasses" => Self::PermittedSubclasses(r.read()?),
            b"ModuleTarget" => Self::ModuleTarget(r.read()?),
            b"ModuleResolution" => Self::ModuleResolution(r.u2()?),
            b"ModuleHashes" => Self::ModuleHashes(r.read()?),
            name => Self::Unknown { name, data: r.rest() },
        })
    }

    /// Appends the content, without name and length. It fails only for counts that do not fit their
    /// fields, and values without an encoding; reading yields neither.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Self::ConstantValue(index) => index.write(out),
            Self::StackMapTable(frames) => frames.write(out),
            Self::InnerClasses(classes) => classes.write(out),
            Self::EnclosingMethod(method) => method.write(out),
            Self::Synthetic | Self::Deprecated => Ok(()),
            Self::Signature(text) | Self::SourceFile(text) | Self::ModuleTarget(text) => text.write(out),
            Self::LineNumberTable(lines) => lines.write(out),
            Self::LocalVariableTable(variables) | Self::LocalVariableTypeTable(variables) => {
                variables.write(out)
            }
            Self::RuntimeVisibleAnnotations(list) | Self::RuntimeInvisibleAnnotations(list) => {
                list.write(out)
            }
            Self::RuntimeVisibleParameterAnnotations(list)
            | Self::RuntimeInvisibleParameterAnnotations(list) => list.write(out),
            Self::RuntimeVisibleTypeAnnotations(list) | Self::RuntimeInvisibleTypeAnnotations(list) => {
                list.write(out)
            }
            Self::AnnotationDefault(value) => value.write(out),
            Self::BootstrapMethods(methods) => methods.write(out),
            Self::MethodParameters(parameters) => parameters.write(out),
            Self::Module(module) => module.write(out),
            Self::ModulePackages(packages) => packages.write(out),
            Self::ModuleMainClass(class) | Self::NestHost(class) => class.write(out),
            Self::Exceptions(classes) | Self::NestMembers(classes) | Self::PermittedSubclasses(classes) => {
                classes.write(out)
            }
            Self::Record(components) => components.write(out),
            Self::ModuleResolution(flags) => flags.write(out),
            Self::ModuleHashes(hashes) => hashes.write(out),
            Self::Code(data) | Self::SourceDebugExtension(data) | Self::Unknown { data, .. } => {
                out.extend_from_slice(data);
                Ok(())
            }
        }
    }

    /// The attribute's name in modified UTF-8.
    pub fn name(&self) -> &'a [u8] {
        match self {
            Self::ConstantValue(_) => b"ConstantValue",
            Self::Code(_) => b"Code",
            Self::StackMapTable(_) => b"StackMapTable",
            Self::Exceptions(_) => b"Exceptions",
            Self::InnerClasses(_) => b"InnerClasses",
            Self::EnclosingMethod(_) => b"EnclosingMethod",
            Self::Synthetic => b"Synthetic",
            Self::Signature(_) => b"Signature",
            Self::SourceFile(_) => b"SourceFile",
            Self::SourceDebugExtension(_) => b"SourceDebugExtension",
            Self::LineNumberTable(_) => b"LineNumberTable",
            Self::LocalVariableTable(_) => b"LocalVariableTable",
            Self::LocalVariableTypeTable(_) => b"LocalVariableTypeTable",
            Self::Deprecated => b"Deprecated",
            Self::RuntimeVisibleAnnotations(_) => b"RuntimeVisibleAnnotations",
            Self::RuntimeInvisibleAnnotations(_) => b"RuntimeInvisibleAnnotations",
            Self::RuntimeVisibleParameterAnnotations(_) => b"RuntimeVisibleParameterAnnotations",
            Self::RuntimeInvisibleParameterAnnotations(_) => b"RuntimeInvisibleParameterAnnotations",
            Self::RuntimeVisibleTypeAnnotations(_) => b"RuntimeVisibleTypeAnnotations",
            Self::RuntimeInvisibleTypeAnnotations(_) => b"RuntimeInvisibleTypeAnnotations",
            Self::AnnotationDefault(_) => b"AnnotationDefault",
            Self::BootstrapMethods(_) => b"BootstrapMethods",
            Self::MethodParameters(_) => b"MethodParameters",
            Self::Module(_) => b"Module",
            Self::ModulePackages(_) => b"ModulePackages",
            Self::ModuleMainClass(_) => b"ModuleMainClass",
            Self::NestHost(_) => b"NestHost",
            Self::NestMembers(_) => b"NestMembers",
            Self::Record(_) => b"Record",
            Self::PermittedSubclasses(_) => b"PermittedSubclasses",
            Self::ModuleTarget(_) => b"ModuleTarget",
            Self::ModuleResolution(_) => b"ModuleResolution",
            Self::ModuleHashes(_) => b"ModuleHashes",
            Self::Unknown { name, .. } => name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_attributes_stay_bytes() {
        let info = testing::parse(b"org.example.Own", &[1, 2, 3]).unwrap();
        assert_eq!(info, AttributeInfo::Unknown { name: b"org.example.Own", data: &[1, 2, 3] });
        let mut out = Vec::new();
        info.write(&mut out).unwrap();
        assert_eq!(out, [1, 2, 3]);
    }

    #[test]
    fn attributes_without_structure_are_kept() {
        for name in [&b"Synthetic"[..], b"Deprecated"] {
            testing::round_trip(name, &[]);
        }
        for name in [&b"Code"[..], b"SourceDebugExtension"] {
            testing::round_trip(name, &[7, 7]);
        }
    }
}
