//! A class file (JVMS 4.1), read in place.

use crate::access;
use crate::bytes::{Cursor, u2_at};
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{Error, ErrorKind, Result};
use crate::mutf8;
use crate::names::{MemberRef, NameAndType};

/// A class file with checked structure, down to members and attribute headers; attribute contents
/// are read on demand.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    /// The whole file.
    pub bytes: &'a [u8],
    /// `minor_version`.
    pub minor_version: u16,
    /// `major_version`: 45 (JDK 1.1) to 69 (Java 25), and later ones, whose structure is the same
    /// as far as this crate knows.
    pub major_version: u16,
    /// The constants.
    pub pool: ConstantPool<'a>,
    /// Flags of [`access`].
    pub access_flags: u16,
    /// Index of this class's `CONSTANT_Class`.
    pub this_class: Index,
    name: &'a [u8],
    /// Index of the superclass's `CONSTANT_Class`; 0 for `java/lang/Object` and modules.
    pub super_class: Index,
    /// `interfaces`, two bytes each.
    interfaces: &'a [u8],
    /// The fields.
    pub fields: Vec<Member<'a>>,
    /// The methods.
    pub methods: Vec<Member<'a>>,
    /// The class's own attributes.
    pub attributes: Attributes<'a>,
}

/// A field or method (JVMS 4.5, 4.6).
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// Flags of [`access`].
    pub access_flags: u16,
    /// Index of the name.
    pub name_index: Index,
    /// Index of the descriptor.
    pub descriptor_index: Index,
    /// Name, as modified UTF-8.
    pub name: &'a [u8],
    /// Descriptor.
    pub descriptor: &'a [u8],
    /// The member's attributes.
    pub attributes: Attributes<'a>,
    /// The whole structure as in the file.
    pub raw: &'a [u8],
}

impl<'a> Member<'a> {
    /// Its name and descriptor.
    pub fn name_and_type(&self) -> NameAndType<'a> {
        NameAndType::new(self.name, self.descriptor)
    }

    /// It, as a member of this class.
    pub fn of_class(&self, class: &'a [u8]) -> MemberRef<'a> {
        self.name_and_type().of_class(class)
    }

    /// Whether all these flags are set.
    pub fn is(&self, flags: u16) -> bool {
        self.access_flags & flags == flags
    }

    /// Adds this member's name to an error.
    pub fn locate(&self, e: Error) -> Error {
        e.in_member(self.name_and_type())
    }
}

/// One attribute (JVMS 4.7), its content unread.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// Index of the name.
    pub name_index: Index,
    /// Name.
    pub name: &'a [u8],
    /// Content, without name and length.
    pub data: &'a [u8],
    /// Offset of `data` in the class file.
    pub offset: usize,
}

impl<'a> Attribute<'a> {
    /// A cursor over the content.
    pub fn cursor(&self) -> Cursor<'a> {
        Cursor::new(self.data, self.offset)
    }
}

/// A checked attribute table.
#[derive(Debug, Clone)]
pub struct Attributes<'a> {
    /// The table as in the file, with its count.
    pub raw: &'a [u8],
    list: Vec<Attribute<'a>>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn parse(cursor: &mut Cursor<'a>, file: &'a [u8], pool: &ConstantPool<'a>) -> Result<Self> {
        let start = cursor.offset();
        let count = cursor.u2()?;
        let mut list = Vec::with_capacity(usize::from(count).min(cursor.remaining() / 6));
        for _ in 0..count {
            let at = cursor.offset();
            let name_index = cursor.u2()?;
            let name = pool.utf8(name_index).map_err(|e| Error::at(e.kind().clone(), at))?;
            let length = cursor.u4()? as usize;
            let offset = cursor.offset();
            let data = cursor.take(length).map_err(|e| e.in_attribute(&mutf8::decode_lossy(name)))?;
            list.push(Attribute { name_index, name, data, offset });
        }
        Ok(Attributes { raw: &file[start..cursor.offset()], list })
    }

    /// The attributes in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Attribute<'a>> {
        self.list.iter()
    }

    /// The first attribute of this name.
    pub fn find(&self, name: &[u8]) -> Option<&Attribute<'a>> {
        self.list.iter().find(|a| a.name == name)
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are no attributes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

impl<'a> ClassFile<'a> {
    /// Reads the structure of a class file. Every byte of the file must belong to it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let magic = cursor.u4()?;
        if magic != 0xCAFE_BABE {
            return Err(Error::at(ErrorKind::BadMagic(magic), 0));
        }
        let minor_version = cursor.u2()?;
        let major_version = cursor.u2()?;
        let pool = ConstantPool::parse(bytes, &mut cursor)?;
        let access_flags = cursor.u2()?;
        let at = cursor.offset();
        let this_class = cursor.u2()?;
        let name = pool.class(this_class).map_err(|e| Error::at(e.kind().clone(), at))?;
        if name.first() == Some(&b'[') {
            return Err(Error::at(ErrorKind::Malformed("this_class names an array"), at));
        }
        Self::parse_body(bytes, cursor, minor_version, major_version, pool, access_flags, (this_class, name))
            .map_err(|e| e.in_class(&mutf8::decode_lossy(name)))
    }

    fn parse_body(
        bytes: &'a [u8],
        mut cursor: Cursor<'a>,
        minor_version: u16,
        major_version: u16,
        pool: ConstantPool<'a>,
        access_flags: u16,
        (this_class, name): (Index, &'a [u8]),
    ) -> Result<Self> {
        let at = cursor.offset();
        let super_class = cursor.u2()?;
        if super_class != 0 {
            pool.class(super_class).map_err(|e| Error::at(e.kind().clone(), at))?;
        }
        let count = cursor.u2()? as usize;
        let at = cursor.offset();
        let interfaces = cursor.take(count * 2)?;
        for (i, index) in interfaces.chunks_exact(2).enumerate() {
            pool.class(u2_at(index, 0)).map_err(|e| Error::at(e.kind().clone(), at + 2 * i))?;
        }
        let fields = Self::parse_members(bytes, &mut cursor, &pool)?;
        let methods = Self::parse_members(bytes, &mut cursor, &pool)?;
        let attributes = Attributes::parse(&mut cursor, bytes, &pool)?;
        cursor.finish()?;
        Ok(ClassFile {
            bytes,
            minor_version,
            major_version,
            pool,
            access_flags,
            this_class,
            name,
            super_class,
            interfaces,
            fields,
            methods,
            attributes,
        })
    }

    fn parse_members(
        bytes: &'a [u8],
        cursor: &mut Cursor<'a>,
        pool: &ConstantPool<'a>,
    ) -> Result<Vec<Member<'a>>> {
        let count = cursor.u2()?;
        let mut members = Vec::with_capacity(usize::from(count).min(cursor.remaining() / 8));
        for _ in 0..count {
            let start = cursor.offset();
            let access_flags = cursor.u2()?;
            let name_index = cursor.u2()?;
            let descriptor_index = cursor.u2()?;
            let name = pool.utf8(name_index).map_err(|e| Error::at(e.kind().clone(), start + 2))?;
            let descriptor =
                pool.utf8(descriptor_index).map_err(|e| Error::at(e.kind().clone(), start + 4))?;
            let attributes = Attributes::parse(cursor, bytes, pool)
                .map_err(|e| e.in_member(NameAndType::new(name, descriptor)))?;
            let raw = &bytes[start..cursor.offset()];
            members.push(Member {
                access_flags,
                name_index,
                descriptor_index,
                name,
                descriptor,
                attributes,
                raw,
            });
        }
        Ok(members)
    }

    /// Internal name of this class.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Internal name of the superclass.
    pub fn super_name(&self) -> Option<&'a [u8]> {
        self.pool.class(self.super_class).ok()
    }

    /// Indices of the direct superinterfaces.
    pub fn interface_indices(&self) -> impl Iterator<Item = Index> + use<'a> {
        self.interfaces.chunks_exact(2).map(|b| u2_at(b, 0))
    }

    /// Internal names of the direct superinterfaces.
    pub fn interface_names(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.interface_indices().filter_map(|i| self.pool.class(i).ok())
    }

    /// `interfaces` as in the file, without the count.
    pub fn raw_interfaces(&self) -> &'a [u8] {
        self.interfaces
    }

    /// Whether all these flags are set.
    pub fn is(&self, flags: u16) -> bool {
        self.access_flags & flags == flags
    }

    /// Whether this is an interface (annotation interfaces included).
    pub fn is_interface(&self) -> bool {
        self.is(access::INTERFACE)
    }

    /// Adds this class's name to an error.
    pub fn locate(&self, e: Error) -> Error {
        e.in_class(&mutf8::decode_lossy(self.name()))
    }
}
