//! Record components (JVMS 4.7.30).

use crate::bytes::PutBytes;
use crate::class::Attribute;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{ErrorKind, Result};

use super::structure::{Reader, Structure};

/// A component of a record class. Its attributes stay unread;
/// [`AttributeInfo::parse`](super::AttributeInfo::parse) reads them.
#[derive(Debug, Clone)]
pub struct RecordComponent<'a> {
    /// Index of its name.
    pub name: Index,
    /// Index of its field descriptor.
    pub descriptor: Index,
    /// `Signature` and annotations, if it has them.
    pub attributes: Vec<Attribute<'a>>,
}

impl PartialEq for RecordComponent<'_> {
    /// Compares the content, wherever in a file the attributes are.
    fn eq(&self, other: &Self) -> bool {
        let content = |a: &Attribute<'_>, b: &Attribute<'_>| a.name_index == b.name_index && a.data == b.data;
        self.name == other.name
            && self.descriptor == other.descriptor
            && self.attributes.len() == other.attributes.len()
            && self.attributes.iter().zip(&other.attributes).all(|(a, b)| content(a, b))
    }
}

impl<'a> Structure<'a> for RecordComponent<'a> {
    const MIN_LENGTH: usize = 6;
    const PLURAL: &'static str = "record components";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(RecordComponent {
            name: r.index(ConstantPool::utf8)?,
            descriptor: r.index(ConstantPool::utf8)?,
            attributes: r.read()?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.name);
        out.put2(self.descriptor);
        self.attributes.write(out)
    }
}

/// An attribute inside an attribute, its content unread.
impl<'a> Structure<'a> for Attribute<'a> {
    const MIN_LENGTH: usize = 6;
    const PLURAL: &'static str = "attributes";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let mut name = &b""[..];
        let name_index = r.index(|pool, index| pool.utf8(index).map(|text| name = text))?;
        let length = r.u4()? as usize;
        let offset = r.offset();
        Ok(Attribute { name_index, name, data: r.take(length)?, offset })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let length =
            u32::try_from(self.data.len()).map_err(|_| ErrorKind::TooMany("bytes in an attribute"))?;
        out.put2(self.name_index);
        out.put4(length);
        out.extend_from_slice(self.data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AttributeInfo;
    use super::super::testing::{CLASS, UTF8, expect_bad_index, parse, round_trip};
    use crate::error::ErrorKind;

    #[test]
    fn components_carry_attributes() {
        let info = round_trip(b"Record", &[0, 1, 0, UTF8, 0, UTF8, 0, 1, 0, UTF8, 0, 0, 0, 2, 8, 9]);
        let AttributeInfo::Record(components) = info else { panic!("{info:?}") };
        let attribute = components[0].attributes[0];
        assert_eq!((attribute.name, attribute.data, attribute.offset), (&b"text"[..], &[8, 9][..], 14));
        expect_bad_index(b"Record", &[0, 1, 0, UTF8, 0, CLASS, 0, 0], 4);
    }

    #[test]
    fn an_attribute_may_not_reach_past_its_record() {
        let error = parse(b"Record", &[0, 1, 0, UTF8, 0, UTF8, 0, 1, 0, UTF8, 0, 0, 0, 3, 8, 9]).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Truncated { needed: 3, available: 2 });
    }
}
