//! The edit of a class: the old file with some methods replaced, some added, and constants appended
//! to the old ones.

use crate::access;
use crate::bytes::PutBytes;
use crate::class::{ClassFile, Member};
use crate::constant_pool::{Index, PoolAdditions};
use crate::edit::attribute_names::{AttributeNames, Version, patch_length};
use crate::error::{Error, ErrorKind, Result};

/// An edit of a class. Methods and fields that it does not name stay unchanged, byte for byte, and
/// in their order.
#[derive(Debug)]
pub struct ClassEdit<'c, 'a> {
    class: &'c ClassFile<'a>,
    /// Constants to append.
    pub additions: PoolAdditions,
    /// Indices of attribute names.
    pub names: AttributeNames,
    access_flags: u16,
    replaced: Vec<Option<Vec<u8>>>,
    added_methods: Vec<Vec<u8>>,
    added_fields: Vec<Vec<u8>>,
    added_attributes: Vec<(Index, Vec<u8>)>,
}

impl<'c, 'a> ClassEdit<'c, 'a> {
    /// An edit of `class` that changes nothing yet.
    pub fn new(class: &'c ClassFile<'a>) -> Self {
        let find = |name: &[u8]| {
            class.methods.iter().find_map(|m| m.attributes.find(name)).map(|attribute| attribute.name_index)
        };
        let version = Version { major: class.major_version, minor: class.minor_version };
        ClassEdit {
            class,
            additions: PoolAdditions::new(&class.pool),
            names: AttributeNames {
                version,
                code: find(b"Code"),
                stack_map_table: None,
                line_number_table: None,
            },
            access_flags: class.access_flags,
            replaced: vec![None; class.methods.len()],
            added_methods: Vec::new(),
            added_fields: Vec::new(),
            added_attributes: Vec::new(),
        }
    }

    /// The class being edited.
    pub fn class(&self) -> &'c ClassFile<'a> {
        self.class
    }

    /// Raises the class-file version to at least `major` (with minor version 0). Corrects flags of
    /// an interface that only older versions accept: removes `ACC_SUPER`, and adds a missing
    /// `ACC_ABSTRACT` (JVMS 4.1).
    ///
    /// Code written before keeps the shape of the old version: raise it first.
    pub fn require_version(&mut self, major: u16) {
        if self.names.version.major < major {
            self.names.version = Version { major, minor: 0 };
            if self.class.is_interface() {
                self.access_flags = self.access_flags & !access::SUPER | access::ABSTRACT;
            }
        }
    }

    /// The version the class will have.
    pub fn version(&self) -> Version {
        self.names.version
    }

    /// Replaces the method at this position by a whole `method_info` structure.
    pub fn replace_method(&mut self, position: usize, method_info: Vec<u8>) {
        self.replaced[position] = Some(method_info);
    }

    /// Adds a method (a whole `method_info`) after the others.
    pub fn add_method(&mut self, method_info: Vec<u8>) {
        self.added_methods.push(method_info);
    }

    /// Adds a field (a whole `field_info`) after the others.
    pub fn add_field(&mut self, field_info: Vec<u8>) {
        self.added_fields.push(field_info);
    }

    /// Adds an attribute to the class.
    pub fn add_attribute(&mut self, name: &[u8], content: Vec<u8>) -> Result<()> {
        let name = self.additions.utf8(name)?;
        self.added_attributes.push((name, content));
        Ok(())
    }

    /// Writes the class. Without edits the result equals the input.
    pub fn finish(self) -> Result<Vec<u8>> {
        let class = self.class;
        let added: usize = self.replaced.iter().flatten().chain(&self.added_methods).map(Vec::len).sum();
        let mut out = Vec::with_capacity(class.bytes.len() + added + self.additions.bytes().len() + 64);
        out.put4(0xCAFE_BABE);
        out.put2(self.names.version.minor);
        out.put2(self.names.version.major);
        out.put2(self.additions.count()?);
        out.extend_from_slice(class.pool.raw());
        out.extend_from_slice(self.additions.bytes());
        out.put2(self.access_flags);
        out.put2(class.this_class);
        out.put2(class.super_class);
        out.put2((class.raw_interfaces().len() / 2) as u16);
        out.extend_from_slice(class.raw_interfaces());
        out.put2(count(class.fields.len() + self.added_fields.len(), "fields")?);
        class.fields.iter().for_each(|f| out.extend_from_slice(f.raw));
        self.added_fields.iter().for_each(|f| out.extend_from_slice(f));
        out.put2(count(class.methods.len() + self.added_methods.len(), "methods")?);
        for (member, replacement) in class.methods.iter().zip(&self.replaced) {
            out.extend_from_slice(replacement.as_deref().unwrap_or(member.raw));
        }
        self.added_methods.iter().for_each(|m| out.extend_from_slice(m));
        if self.added_attributes.is_empty() {
            out.extend_from_slice(class.attributes.raw);
        } else {
            out.put2(count(class.attributes.len() + self.added_attributes.len(), "attributes")?);
            out.extend_from_slice(&class.attributes.raw[2..]);
            for (name, content) in &self.added_attributes {
                out.put2(*name);
                out.put4(content.len() as u32);
                out.extend_from_slice(content);
            }
        }
        Ok(out)
    }
}

fn count(n: usize, what: &'static str) -> Result<u16> {
    u16::try_from(n).map_err(|_| Error::new(ErrorKind::TooMany(what)))
}

/// Builds a `method_info` or `field_info` structure: head first, then its attributes.
#[derive(Debug, Clone)]
pub struct MemberBuilder {
    bytes: Vec<u8>,
    attributes: u16,
}

impl MemberBuilder {
    /// A member with these flags, name and descriptor.
    pub fn new(access_flags: u16, name: Index, descriptor: Index) -> Self {
        // Room for a wrapper.
        let mut bytes = Vec::with_capacity(256);
        bytes.put2(access_flags);
        bytes.put2(name);
        bytes.put2(descriptor);
        bytes.put2(0);
        MemberBuilder { bytes, attributes: 0 }
    }

    /// Adds an attribute whose content `write` appends.
    pub fn attribute<T>(&mut self, name: Index, write: impl FnOnce(&mut Vec<u8>) -> Result<T>) -> Result<T> {
        let start = self.bytes.len();
        self.bytes.put2(name);
        self.bytes.put4(0);
        let result = write(&mut self.bytes)?;
        patch_length(&mut self.bytes, start);
        self.attributes += 1;
        Ok(result)
    }

    /// Copies the attributes of an existing member that `keep` accepts.
    pub fn copy_attributes(&mut self, member: &Member<'_>, keep: impl Fn(&[u8]) -> bool) {
        for attribute in member.attributes.iter().filter(|a| keep(a.name)) {
            self.bytes.put2(attribute.name_index);
            self.bytes.put4(attribute.data.len() as u32);
            self.bytes.extend_from_slice(attribute.data);
            self.attributes += 1;
        }
    }

    /// The structure.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes[6..8].copy_from_slice(&self.attributes.to_be_bytes());
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_counts_its_attributes() {
        let mut m = MemberBuilder::new(1, 2, 3);
        m.attribute(7, |out| {
            out.put1(9);
            Ok(())
        })
        .unwrap();
        assert_eq!(m.finish(), [0, 1, 0, 2, 0, 3, 0, 1, 0, 7, 0, 0, 0, 1, 9]);
    }
}
