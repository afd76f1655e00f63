//! Names of fields and methods, as class files write them. All texts are modified UTF-8 (JVMS
//! 4.4.7), borrowed and not checked.

use std::fmt;

use crate::mutf8::decode_lossy;

/// The name and the descriptor of a field or method, as in a `CONSTANT_NameAndType` (JVMS 4.4.6).
///
/// A class declares each pair at most once among its fields, and at most once among its methods
/// (JVMS 4.5, 4.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameAndType<'a> {
    /// Unqualified name, or `<init>` or `<clinit>` (JVMS 4.2.2).
    pub name: &'a [u8],
    /// Descriptor of a field or method (JVMS 4.3).
    pub descriptor: &'a [u8],
}

impl<'a> NameAndType<'a> {
    /// The pair of this name and this descriptor.
    #[inline]
    pub const fn new(name: &'a [u8], descriptor: &'a [u8]) -> Self {
        NameAndType { name, descriptor }
    }

    /// The member of this class.
    #[inline]
    pub const fn of_class(self, class: &'a [u8]) -> MemberRef<'a> {
        MemberRef { class, name: self.name, descriptor: self.descriptor }
    }
}

/// Writes name and descriptor for people: `main([Ljava/lang/String;)V`. U+FFFD replaces malformed
/// bytes.
impl fmt::Display for NameAndType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&decode_lossy(self.name))?;
        f.write_str(&decode_lossy(self.descriptor))
    }
}

/// The owned form of a [`NameAndType`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameAndTypeBuf {
    /// Unqualified name, or `<init>` or `<clinit>` (JVMS 4.2.2).
    pub name: Box<[u8]>,
    /// Descriptor of a field or method (JVMS 4.3).
    pub descriptor: Box<[u8]>,
}

impl NameAndTypeBuf {
    /// The pair, borrowed.
    pub fn name_and_type(&self) -> NameAndType<'_> {
        NameAndType::new(&self.name, &self.descriptor)
    }
}

impl From<NameAndType<'_>> for NameAndTypeBuf {
    fn from(member: NameAndType<'_>) -> Self {
        NameAndTypeBuf { name: member.name.into(), descriptor: member.descriptor.into() }
    }
}

/// A reference to a field or method of a class: what a `CONSTANT_Fieldref`, `CONSTANT_Methodref` or
/// `CONSTANT_InterfaceMethodref` names (JVMS 4.4.2), or the declaration itself.
///
/// [`MemberConstant`](crate::constant_pool::MemberConstant) also has the indices of the constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberRef<'a> {
    /// Internal name of the class (JVMS 4.2.1), or an array descriptor.
    pub class: &'a [u8],
    /// Unqualified name, or `<init>` or `<clinit>` (JVMS 4.2.2).
    pub name: &'a [u8],
    /// Descriptor of a field or method (JVMS 4.3).
    pub descriptor: &'a [u8],
}

impl<'a> MemberRef<'a> {
    /// The member of this class, name and descriptor.
    #[inline]
    pub const fn new(class: &'a [u8], name: &'a [u8], descriptor: &'a [u8]) -> Self {
        MemberRef { class, name, descriptor }
    }

    /// Its name and descriptor.
    #[inline]
    pub const fn name_and_type(self) -> NameAndType<'a> {
        NameAndType { name: self.name, descriptor: self.descriptor }
    }

    /// Its class and name.
    #[inline]
    pub const fn member_name(self) -> MemberName<'a> {
        MemberName { class: self.class, name: self.name }
    }
}

/// Writes a member for people: `java/lang/Math.max(II)I`. U+FFFD replaces malformed bytes.
impl fmt::Display for MemberRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.member_name(), decode_lossy(self.descriptor))
    }
}

/// The owned form of a [`MemberRef`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberRefBuf {
    /// Internal name of the class (JVMS 4.2.1), or an array descriptor.
    pub class: Box<[u8]>,
    /// Unqualified name, or `<init>` or `<clinit>` (JVMS 4.2.2).
    pub name: Box<[u8]>,
    /// Descriptor of a field or method (JVMS 4.3).
    pub descriptor: Box<[u8]>,
}

impl MemberRefBuf {
    /// The member, borrowed.
    pub fn member(&self) -> MemberRef<'_> {
        MemberRef::new(&self.class, &self.name, &self.descriptor)
    }
}

impl From<MemberRef<'_>> for MemberRefBuf {
    fn from(member: MemberRef<'_>) -> Self {
        let MemberRef { class, name, descriptor } = member;
        MemberRefBuf { class: class.into(), name: name.into(), descriptor: descriptor.into() }
    }
}

/// A class and the name of its members: all overloads of a method (JLS 8.4.9), or a field,
/// whatever its type. Rules for methods whose descriptors differ between releases go by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberName<'a> {
    /// Internal name of the class (JVMS 4.2.1), or an array descriptor.
    pub class: &'a [u8],
    /// Unqualified name, or `<init>` or `<clinit>` (JVMS 4.2.2).
    pub name: &'a [u8],
}

impl<'a> MemberName<'a> {
    /// The members of this class that have this name.
    #[inline]
    pub const fn new(class: &'a [u8], name: &'a [u8]) -> Self {
        MemberName { class, name }
    }
}

/// Writes class and name for people: `java/lang/Math.max`. U+FFFD replaces malformed bytes.
impl fmt::Display for MemberName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", decode_lossy(self.class), decode_lossy(self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: MemberRef<'_> = MemberRef::new(b"java/lang/Math", b"max", b"(II)I");

    #[test]
    fn names_are_written_as_in_reports() {
        assert_eq!(MAX.to_string(), "java/lang/Math.max(II)I");
        assert_eq!(MAX.name_and_type().to_string(), "max(II)I");
        assert_eq!(MAX.member_name().to_string(), "java/lang/Math.max");
        let malformed = MemberRef::new(b"\xE4\xB8\xAD", b"\xED\xA0\xBDy", b"\x80");
        assert_eq!(malformed.to_string(), "\u{4e2d}.\u{FFFD}y\u{FFFD}");
    }

    #[test]
    fn parts_make_the_whole_again() {
        assert_eq!(MAX.name_and_type().of_class(MAX.class), MAX);
        let owned = NameAndTypeBuf::from(MAX.name_and_type());
        assert_eq!(owned.name_and_type(), MAX.name_and_type());
        assert_eq!(MemberRefBuf::from(MAX).member(), MAX);
    }

    #[test]
    fn members_are_ordered_by_class_then_name_then_descriptor() {
        let all = [
            MemberRef::new(b"A", b"m", b"(J)V"),
            MemberRef::new(b"A", b"n", b"()V"),
            MemberRef::new(b"B", b"a", b"()V"),
            MemberRef::new(b"B", b"a", b"(I)V"),
        ];
        assert!(all.is_sorted());
        assert!(all.map(MemberRef::member_name).is_sorted());
        assert!(all[2..].iter().map(|member| member.name_and_type()).is_sorted());
    }
}
