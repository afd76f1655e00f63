//! The survey: the facts that planning needs of a class. It runs over every class of every input
//! and library, in parallel.

use std::sync::Arc;

use cct_classfile::{Attribute, ClassFile, Code, Member, MemberRef, NameAndType, access, opcode};
use cct_index::class_attribute::ClassAttribute;
use cct_index::mid::ClassHash;
use cct_index::record::ClassRecord;
use cct_jdk::annotations;
use cct_jdk::intrinsics;

use crate::error::{Error, Result};
use crate::kept_members::KeptMembers;
use crate::planned_treatment::PlannedTreatment;

/// Summary of a class, as far as other classes are concerned.
#[derive(Debug, Clone)]
pub struct ClassSummary {
    /// Internal name.
    pub name: Box<[u8]>,
    /// Superclass.
    pub super_name: Option<Box<[u8]>>,
    /// Direct superinterfaces.
    pub interfaces: Box<[Box<[u8]>]>,
    /// Access flags.
    pub access: u16,
    /// `major_version`.
    pub major_version: u16,
    /// Hash of the original class file.
    pub hash: ClassHash,
    /// The methods in class-file order; for a rewritten class, the original ones.
    pub methods: Box<[MethodSummary]>,
    /// Whether it will be defined as a VM-anonymous class (JDK 8 to 16), which a class file does
    /// not say.
    pub has_host: bool,
    /// Whether a debugger may inspect it: bodies then stay under their original signatures.
    pub is_debugged: bool,
    /// Members that it must keep if it replaces a class that was rewritten before, which a class
    /// file does not say either.
    pub kept: Option<Arc<KeptMembers>>,
    /// The treatments of the methods, if the class has been rewritten.
    pub settled: Option<Arc<[PlannedTreatment]>>,
    /// Names and descriptors of the methods, joined.
    text: Box<[u8]>,
}

/// A method of a [`ClassSummary`].
#[derive(Debug, Clone, Copy)]
pub struct MethodSummary {
    /// Hash of name and descriptor, compared before the texts.
    key: u32,
    name: (u32, u16),
    descriptor_length: u16,
    /// Access flags.
    pub access: u16,
    /// Argument slots, `this` included.
    pub argument_slots: u16,
    /// Further properties; a set of [`trait_bits`].
    pub traits: u8,
}

/// Properties of methods beyond their flags.
pub mod trait_bits {
    /// Annotated `@CallerSensitive`.
    pub const CALLER_SENSITIVE: u8 = 1;
    /// The code is one `return`.
    pub const EMPTY: u8 = 2;
    /// Has a body that HotSpot may replace with its own code.
    pub const INTRINSIC: u8 = 4;
    /// HotSpot's compilers know it by its original signature.
    pub const RECOGNISED: u8 = 16;
    /// The code of an intrinsic has no invocation. (Unknown for classes from an index.)
    pub const CALLS_NOTHING: u8 = 8;
    /// A native that HotSpot may replace with its own code. (Unknown for JDK 8 and for classes from
    /// an index.)
    pub const NATIVE_INTRINSIC: u8 = 32;
}

impl MethodSummary {
    fn new(
        method: NameAndType<'_>,
        access: u16,
        traits: u8,
        text: &mut Vec<u8>,
    ) -> cct_classfile::Result<Self> {
        let NameAndType { name, descriptor } = method;
        let start = text.len() as u32;
        text.extend_from_slice(name);
        text.extend_from_slice(descriptor);
        let parsed = cct_classfile::descriptor::MethodDescriptor::parse(descriptor)?;
        Ok(MethodSummary {
            key: method_key(method),
            name: (start, name.len() as u16),
            descriptor_length: descriptor.len() as u16,
            access,
            argument_slots: parsed
                .argument_slots()
                .saturating_add(u16::from(access & ::cct_classfile::access::STATIC == 0)),
            traits,
        })
    }

    /// Whether all these flags are set.
    pub fn is(&self, flags: u16) -> bool {
        self.access & flags == flags
    }

    /// Whether the method has these properties.
    pub fn has(&self, bits: u8) -> bool {
        self.traits & bits == bits
    }

    /// Whether a subclass can override it, apart from rules about private members and packages.
    pub fn is_virtual(&self, class: &ClassSummary) -> bool {
        !self.is(access::STATIC) && !self.is(access::PRIVATE) && !class.method_name(self).starts_with(b"<")
    }

    /// Whether the method has code.
    pub fn is_concrete(&self) -> bool {
        self.access & (access::ABSTRACT | access::NATIVE) == 0
    }
}

/// Key of a method within its class.
pub(crate) fn method_key(method: NameAndType<'_>) -> u32 {
    use std::hash::Hasher;
    let mut hasher = rustc_hash::FxHasher::default();
    hasher.write(method.name);
    hasher.write(method.descriptor);
    let hash = hasher.finish();
    (hash ^ hash >> 32) as u32
}

impl ClassSummary {
    /// Summarises a class file.
    pub fn of(class: &ClassFile<'_>) -> Result<Self> {
        let attribute = ClassAttribute::of(class)?;
        let original = attribute.as_ref().map_or(class.methods.len(), |a| a.methods.len());
        let mut methods = Vec::with_capacity(original);
        let originals = &class.methods[..original];
        let mut text = Vec::with_capacity(originals.iter().map(|m| m.name.len() + m.descriptor.len()).sum());
        for member in originals {
            methods.push(Self::method(class, member, &mut text).map_err(|e| class.locate(member.locate(e)))?);
        }
        Ok(ClassSummary {
            name: class.name().into(),
            super_name: class.super_name().map(Into::into),
            interfaces: class.interface_names().map(Into::into).collect(),
            access: class.access_flags,
            major_version: class.major_version,
            hash: attribute.as_ref().map_or_else(|| ClassHash::of(class.bytes), |a| a.hash),
            methods: methods.into(),
            has_host: false,
            is_debugged: false,
            kept: None,
            settled: attribute
                .map(|a| a.methods.iter().map(|m| PlannedTreatment::settled(m.treatment)).collect()),
            text: text.into(),
        })
    }

    /// Summary of a rewritten class, from its row in an index.
    pub fn of_record(record: &ClassRecord) -> cct_classfile::Result<Self> {
        let mut text = Vec::new();
        let methods: cct_classfile::Result<Box<[MethodSummary]>> = record
            .methods
            .iter()
            .map(|m| MethodSummary::new(m.name_and_type(), m.access, 0, &mut text))
            .collect();
        Ok(ClassSummary {
            name: record.name.clone(),
            super_name: record.super_name.clone(),
            interfaces: record.interfaces.clone(),
            access: record.access,
            major_version: record.major_version,
            hash: record.hash,
            methods: methods?,
            has_host: false,
            is_debugged: false,
            kept: None,
            settled: Some(record.methods.iter().map(|m| PlannedTreatment::settled(m.treatment)).collect()),
            text: text.into(),
        })
    }

    /// Whether the class has been rewritten.
    pub fn is_rewritten(&self) -> bool {
        self.settled.is_some()
    }

    /// Parses and summarises a class file.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::of(&ClassFile::parse(bytes).map_err(Error::from)?)
    }

    fn method(
        class: &ClassFile<'_>,
        member: &Member<'_>,
        text: &mut Vec<u8>,
    ) -> cct_classfile::Result<MethodSummary> {
        let mut traits = 0;
        let annotations = match member.attributes.find(b"RuntimeVisibleAnnotations") {
            Some(attribute) => annotation_types(class, attribute)?,
            None => Vec::new(),
        };
        if annotations.iter().any(|t| annotations::CALLER_SENSITIVE.contains(t)) {
            traits |= trait_bits::CALLER_SENSITIVE;
        }
        let is_candidate = intrinsics::is_candidate(class, member, &annotations);
        if intrinsics::is_recognised(class, member, &annotations, is_candidate) {
            traits |= trait_bits::RECOGNISED;
        }
        if intrinsics::is_native_candidate(member, &annotations) {
            traits |= trait_bits::NATIVE_INTRINSIC;
        }
        if is_candidate {
            traits |= trait_bits::INTRINSIC;
            let calls = |c: Code<'_>| c.invocations().next().is_some();
            if !Code::of(class, member)?.is_some_and(calls) {
                traits |= trait_bits::CALLS_NOTHING;
            }
        }
        // To decode all code twice would cost more than the rest of the survey; only this one shape
        // matters here.
        if member.name == b"finalize"
            && member.descriptor == b"()V"
            && Code::of(class, member)?.is_some_and(|c| c.bytes == [opcode::RETURN])
        {
            traits |= trait_bits::EMPTY;
        }
        MethodSummary::new(member.name_and_type(), member.access_flags, traits, text)
    }

    /// A method's name.
    pub fn method_name(&self, method: &MethodSummary) -> &[u8] {
        let start = method.name.0 as usize;
        &self.text[start..start + usize::from(method.name.1)]
    }

    /// A method's descriptor.
    pub fn method_descriptor(&self, method: &MethodSummary) -> &[u8] {
        let start = method.name.0 as usize + usize::from(method.name.1);
        &self.text[start..start + usize::from(method.descriptor_length)]
    }

    /// A method's name and descriptor.
    pub fn name_and_type(&self, method: &MethodSummary) -> NameAndType<'_> {
        NameAndType::new(self.method_name(method), self.method_descriptor(method))
    }

    /// A method with its class.
    pub fn member(&self, method: &MethodSummary) -> MemberRef<'_> {
        self.name_and_type(method).of_class(&self.name)
    }

    /// Position of a declared method; `None` if the class does not declare it.
    pub fn find(&self, method: NameAndType<'_>) -> Option<usize> {
        self.find_keyed(method_key(method), method)
    }

    /// Position of a declared method, as [`ClassSummary::find`], by a key that the caller has
    /// computed.
    pub(crate) fn find_keyed(&self, key: u32, method: NameAndType<'_>) -> Option<usize> {
        self.methods.iter().position(|m| m.key == key && self.name_and_type(m) == method)
    }

    /// Whether a method's treatment may not change, since its class must [keep](crate::kept) it.
    pub(crate) fn keeps(&self, method: &MethodSummary) -> bool {
        let kept = |kept: &Arc<KeptMembers>| kept.find(self.name_and_type(method));
        self.kept.as_ref().and_then(kept).is_some()
    }

    /// Whether all these flags are set.
    pub fn is(&self, flags: u16) -> bool {
        self.access & flags == flags
    }
}

/// Descriptors of the annotations in a Runtime(In)VisibleAnnotations attribute (JVMS 4.7.16).
pub(crate) fn annotation_types<'a>(
    class: &ClassFile<'a>,
    attribute: &Attribute<'a>,
) -> cct_classfile::Result<Vec<&'a [u8]>> {
    use cct_classfile::attributes::AttributeInfo;
    match AttributeInfo::parse(attribute, &class.pool)? {
        AttributeInfo::RuntimeVisibleAnnotations(list) | AttributeInfo::RuntimeInvisibleAnnotations(list) => {
            list.iter().map(|a| class.pool.utf8(a.type_index)).collect()
        }
        _ => Ok(Vec::new()),
    }
}
