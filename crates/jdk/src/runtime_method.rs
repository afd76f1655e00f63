//! Static methods of the runtime, which inserted code calls.

use cct_classfile::MemberRef;
use cct_classfile::descriptor::{FieldType, MethodDescriptor};

use crate::convention::OBJECT;

/// A static method of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeMethod {
    /// Its class, name and descriptor.
    pub member: MemberRef<'static>,
}

impl RuntimeMethod {
    /// The method of this class, name and descriptor.
    pub const fn of(class: &'static [u8], name: &'static [u8], descriptor: &'static [u8]) -> Self {
        RuntimeMethod { member: MemberRef::new(class, name, descriptor) }
    }

    /// Whether the result may be any object. The runtime's methods take and return `Object` for
    /// classes that some release of the class library lacks, or that another module than
    /// `java.base` has. A typed descriptor would make the JVM look for all its classes when a
    /// program reflects over the runtime.
    pub fn gives_any(&self) -> bool {
        self.member.descriptor.ends_with(b")Ljava/lang/Object;")
    }

    /// Whether it can be called with values of these types, given as in a descriptor.
    pub fn takes(&self, given: &[u8]) -> bool {
        let given = [b"(", given, b")V"].concat();
        let (Ok(wanted), Ok(given)) =
            (MethodDescriptor::parse(self.member.descriptor), MethodDescriptor::parse(&given))
        else {
            return false;
        };
        let any = FieldType::Class(OBJECT);
        wanted.arguments().count() == given.arguments().count()
            && wanted.arguments().zip(given.arguments()).all(|(w, g)| w == g || w == any && g.is_reference())
    }

    /// Whether it returns this type, or an object that may be of this type.
    pub fn gives(&self, result: &[u8]) -> bool {
        let is_reference = matches!(result, [b'L' | b'[', ..]);
        self.member.descriptor.ends_with(&[b")", result].concat()) || self.gives_any() && is_reference
    }
}
