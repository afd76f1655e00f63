//! The records of an index: classes, their methods, and methods that callers count.

use cct_classfile::{MemberRef, NameAndType};

use crate::class_attribute::{ClassAttribute, MethodRow};
use crate::mid::{COLUMN_CLASS, ClassHash, Mid, NEW, Shape};
use crate::positions::PackedPositions;
use crate::provenance::Provenance;
use crate::treatment::Treatment;

/// A method of a rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRecord {
    /// Name.
    pub name: Box<[u8]>,
    /// Original descriptor.
    pub descriptor: Box<[u8]>,
    /// Access flags.
    pub access: u16,
    /// The part of its id besides the hash.
    pub shape: Shape,
    /// Flags of [`method_flags`](crate::method_flags).
    pub flags: u8,
    /// Treatment of the method.
    pub treatment: Treatment,
    /// The original positions of its bytecodes, if call sites are kept separate.
    pub positions: PackedPositions,
}

impl MethodRecord {
    /// Its name and original descriptor.
    pub fn name_and_type(&self) -> NameAndType<'_> {
        NameAndType::new(&self.name, &self.descriptor)
    }
}

impl From<&MethodRecord> for MethodRow {
    fn from(m: &MethodRecord) -> Self {
        MethodRow { shape: m.shape, flags: m.flags, treatment: m.treatment, positions: m.positions.clone() }
    }
}

/// A rewritten class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRecord {
    /// Internal name.
    pub name: Box<[u8]>,
    /// Superclass.
    pub super_name: Option<Box<[u8]>>,
    /// Direct superinterfaces.
    pub interfaces: Box<[Box<[u8]>]>,
    /// Access flags.
    pub access: u16,
    /// `major_version` of the original.
    pub major_version: u16,
    /// Hash of the original.
    pub hash: ClassHash,
    /// Original methods in class-file order.
    pub methods: Vec<MethodRecord>,
    /// Methods of other classes that its call sites count.
    pub foreign: Vec<ForeignRecord>,
}

/// A method that its callers count.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForeignRecord {
    /// Id of the method.
    pub mid: Mid,
    /// Declaring class.
    pub class: Box<[u8]>,
    /// Name.
    pub name: Box<[u8]>,
    /// Descriptor.
    pub descriptor: Box<[u8]>,
}

impl ForeignRecord {
    /// The method.
    pub fn member(&self) -> MemberRef<'_> {
        MemberRef::new(&self.class, &self.name, &self.descriptor)
    }

    /// The record of a type: a class's name, or an array's descriptor.
    pub fn of_type(name: &[u8]) -> Self {
        ForeignRecord { mid: Mid::of_type(name), class: name.into(), name: NEW.into(), descriptor: [].into() }
    }

    /// The record of a column.
    pub fn of_column(name: &[u8]) -> Self {
        let mid = Mid::of_column(name);
        ForeignRecord { mid, class: COLUMN_CLASS.into(), name: name.into(), descriptor: [].into() }
    }

    /// The name in this record, and whether it is a native. Callers count natives, Object's
    /// constructor, types, and columns.
    pub fn named(&self) -> NamedMethod {
        NamedMethod {
            class: self.class.clone(),
            name: self.name.clone(),
            descriptor: self.descriptor.clone(),
            is_native: *self.name != *b"<init>" && *self.name != *NEW && *self.class != *COLUMN_CLASS,
            is_synchronized: false,
            positions: PackedPositions::default(),
        }
    }
}

impl ClassRecord {
    /// The attribute of the class.
    pub fn attribute(&self, provenance: &Provenance) -> ClassAttribute {
        let methods = self.methods.iter().map(MethodRow::from).collect();
        ClassAttribute { hash: self.hash, provenance: provenance.hash(), methods }
    }
}

/// A method that an index names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMethod {
    /// Declaring class.
    pub class: Box<[u8]>,
    /// Name.
    pub name: Box<[u8]>,
    /// Original descriptor.
    pub descriptor: Box<[u8]>,
    /// Whether it is a native.
    pub is_native: bool,
    /// Whether each of its calls counts as an entry into a monitor.
    pub is_synchronized: bool,
    /// The original positions of its bytecodes, if call sites are kept separate.
    pub positions: PackedPositions,
}

impl NamedMethod {
    /// Whether this is a type, whose objects are counted.
    pub fn is_type(&self) -> bool {
        *self.name == *NEW
    }

    /// Whether this is a column.
    pub fn is_column(&self) -> bool {
        *self.class == *COLUMN_CLASS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types and methods never share an id by their names, and a type's node has no slots.
    #[test]
    fn types_have_ids_of_their_own() {
        assert_ne!(Mid::of_type(b"A"), Mid::of_type(b"[A"));
        assert_ne!(Mid::of_type(b"A"), Mid::foreign(MemberRef::new(b"A", b"<init>", b"()V"), 0));
        assert_eq!(Mid::of_type(b"A").0 & 0x7F, 0);
        assert_eq!(ForeignRecord::of_type(b"A").mid, Mid::of_type(b"A"));
        let column = ForeignRecord::of_column(b"a");
        assert_eq!(
            (column.mid.slots(), column.named().is_column(), column.named().is_native),
            (0, true, false)
        );
        assert!(!ForeignRecord::of_type(b"A").named().is_column());
    }
}
