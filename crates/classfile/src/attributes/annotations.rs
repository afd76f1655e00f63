//! Annotations of declarations (JVMS 4.7.16 to 4.7.19, 4.7.22).

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{ErrorKind, Result};

use super::structure::{Reader, Structure};

/// An annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Index of the annotation interface's field descriptor.
    pub type_index: Index,
    /// The elements in order.
    pub elements: Vec<ElementPair>,
}

/// An element of an annotation: its name and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementPair {
    /// Index of the name.
    pub name: Index,
    /// The value.
    pub value: ElementValue,
}

/// The value of an annotation's element (JVMS 4.7.16.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementValue {
    /// A primitive value or a string.
    Constant {
        /// One of `B C D F I J S Z`, or `s` for a string.
        tag: u8,
        /// Index of the numeric constant, or of the string's `CONSTANT_Utf8`.
        value: Index,
    },
    /// An enum constant.
    Enum {
        /// Index of the enum class's field descriptor.
        type_index: Index,
        /// Index of the constant's simple name.
        name: Index,
    },
    /// A class literal: index of a return descriptor.
    Class(Index),
    /// A nested annotation.
    Annotation(Annotation),
    /// An array.
    Array(Vec<ElementValue>),
}

impl<'a> Structure<'a> for Annotation {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "annotations";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(Annotation { type_index: r.index(ConstantPool::utf8)?, elements: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.type_index);
        self.elements.write(out)
    }
}

impl<'a> Structure<'a> for ElementPair {
    const MIN_LENGTH: usize = 2 + ElementValue::MIN_LENGTH;
    const PLURAL: &'static str = "annotation elements";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(ElementPair { name: r.index(ConstantPool::utf8)?, value: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.name);
        self.value.write(out)
    }
}

impl<'a> Structure<'a> for ElementValue {
    const MIN_LENGTH: usize = 3;
    const PLURAL: &'static str = "array elements in an annotation";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let at = r.offset();
        let tag = r.u1()?;
        let value = match tag {
            b'B' | b'C' | b'I' | b'S' | b'Z' => r.index(ConstantPool::integer)?,
            b'D' => r.index(ConstantPool::double)?,
            b'F' => r.index(ConstantPool::float)?,
            b'J' => r.index(ConstantPool::long)?,
            b's' => r.index(ConstantPool::utf8)?,
            b'e' => {
                let (type_index, name) = (r.index(ConstantPool::utf8)?, r.index(ConstantPool::utf8)?);
                return Ok(ElementValue::Enum { type_index, name });
            }
            b'c' => return Ok(ElementValue::Class(r.index(ConstantPool::utf8)?)),
            b'@' => return r.nested(Annotation::read).map(ElementValue::Annotation),
            b'[' => return r.nested(Vec::read).map(ElementValue::Array),
            _ => {
                let kind = ErrorKind::Malformed("unknown tag of an annotation's element value");
                return Err(crate::Error::at(kind, at));
            }
        };
        Ok(ElementValue::Constant { tag, value })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        match self {
            ElementValue::Constant { tag, value } => {
                out.put1(*tag);
                out.put2(*value);
            }
            ElementValue::Enum { type_index, name } => {
                out.put1(b'e');
                out.put2(*type_index);
                out.put2(*name);
            }
            ElementValue::Class(descriptor) => {
                out.put1(b'c');
                out.put2(*descriptor);
            }
            ElementValue::Annotation(annotation) => {
                out.put1(b'@');
                annotation.write(out)?;
            }
            ElementValue::Array(values) => {
                out.put1(b'[');
                values.write(out)?;
            }
        }
        Ok(())
    }
}

/// The annotations of each formal parameter, at most 255. Their number need not match the
/// descriptor's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterAnnotations(pub Vec<Vec<Annotation>>);

impl<'a> Structure<'a> for ParameterAnnotations {
    const MIN_LENGTH: usize = 1;
    const PLURAL: &'static str = "lists of annotated parameters";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let count = r.u1()?;
        r.list(usize::from(count)).map(ParameterAnnotations)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let count = u8::try_from(self.0.len()).map_err(|_| ErrorKind::TooMany("annotated parameters"))?;
        out.put1(count);
        self.0.iter().try_for_each(|annotations| annotations.write(out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::structure::MAX_VALUE_DEPTH;
    use super::super::testing::{
        CLASS, DOUBLE, FLOAT, INTEGER, LONG, STRING, UTF8, expect_bad_index, parse, round_trip,
    };
    use super::super::{Annotation, AttributeInfo, ElementPair, ElementValue};
    use crate::error::ErrorKind;

    #[test]
    fn values_of_every_kind() {
        let tags = b"BCISZ".map(|tag| (tag, INTEGER));
        for (tag, constant) in
            tags.into_iter().chain([(b'D', DOUBLE), (b'F', FLOAT), (b'J', LONG), (b's', UTF8)])
        {
            let bytes = [tag, 0, constant];
            let info = round_trip(b"AnnotationDefault", &bytes);
            let value = constant.into();
            assert_eq!(info, AttributeInfo::AnnotationDefault(ElementValue::Constant { tag, value }));
            expect_bad_index(b"AnnotationDefault", &[tag, 0, STRING], 1);
        }
        round_trip(b"AnnotationDefault", &[b'e', 0, UTF8, 0, UTF8]);
        round_trip(b"AnnotationDefault", &[b'c', 0, UTF8]);
        round_trip(b"AnnotationDefault", &[b'[', 0, 2, b'I', 0, INTEGER, b'c', 0, UTF8]);
        expect_bad_index(b"AnnotationDefault", &[b'e', 0, UTF8, 0, CLASS], 3);
        expect_bad_index(b"AnnotationDefault", &[b'c', 0, CLASS], 1);
        let error = parse(b"AnnotationDefault", &[b'x', 0, UTF8]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
    }

    #[test]
    fn annotations_nest() {
        let utf8 = u16::from(UTF8);
        let inner = Annotation { type_index: utf8, elements: Vec::new() };
        let value = ElementValue::Annotation(inner);
        let outer = Annotation { type_index: utf8, elements: vec![ElementPair { name: utf8, value }] };
        let info =
            round_trip(b"RuntimeVisibleAnnotations", &[0, 1, 0, UTF8, 0, 1, 0, UTF8, b'@', 0, UTF8, 0, 0]);
        assert_eq!(info, AttributeInfo::RuntimeVisibleAnnotations(vec![outer.clone()]));
        let info = round_trip(
            b"RuntimeInvisibleParameterAnnotations",
            &[2, 0, 0, 0, 1, 0, UTF8, 0, 1, 0, UTF8, b'@', 0, UTF8, 0, 0],
        );
        let AttributeInfo::RuntimeInvisibleParameterAnnotations(parameters) = info else {
            panic!("{info:?}")
        };
        assert_eq!(parameters.0, [vec![], vec![outer]]);
    }

    #[test]
    fn nesting_has_a_limit() {
        let arrays = |depth: usize| {
            let mut bytes = [b'[', 0, 1].repeat(depth);
            bytes.extend([b's', 0, UTF8]);
            bytes
        };
        round_trip(b"AnnotationDefault", &arrays(MAX_VALUE_DEPTH.into()));
        for depth in [usize::from(MAX_VALUE_DEPTH) + 1, 1_000_000] {
            let error = parse(b"AnnotationDefault", &arrays(depth)).unwrap_err();
            assert!(error.to_string().contains("nested more than"), "{error}");
        }
        let annotations = [b'@', 0, UTF8, 0, 1, 0, UTF8].repeat(1_000_000);
        let error = parse(b"AnnotationDefault", &annotations).unwrap_err();
        assert!(error.to_string().contains("nested more than"), "{error}");
    }
}
