//! Nesting of classes (JVMS 4.7.6, 4.7.7).

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::Result;

use super::structure::{Reader, Structure};

/// An entry of `InnerClasses`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerClass {
    /// `CONSTANT_Class` of the inner class.
    pub inner: Index,
    /// `CONSTANT_Class` of the class that declares it as a member; 0 for local and anonymous
    /// classes.
    pub outer: Index,
    /// Index of its simple name; 0 for anonymous classes.
    pub name: Index,
    /// Access flags as in the source (JVMS table 4.7.6-A).
    pub flags: u16,
}

impl<'a> Structure<'a> for InnerClass {
    const MIN_LENGTH: usize = 8;
    const PLURAL: &'static str = "inner classes";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(InnerClass {
            inner: r.index(ConstantPool::class)?,
            outer: r.optional_index(ConstantPool::class)?,
            name: r.optional_index(ConstantPool::utf8)?,
            flags: r.u2()?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        for part in [self.inner, self.outer, self.name, self.flags] {
            out.put2(part);
        }
        Ok(())
    }
}

/// The innermost class and the method around a local or anonymous class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnclosingMethod {
    /// `CONSTANT_Class` of the innermost enclosing class.
    pub class: Index,
    /// `CONSTANT_NameAndType` of the enclosing method; 0 outside methods.
    pub method: Index,
}

impl<'a> Structure<'a> for EnclosingMethod {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "enclosing methods";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(EnclosingMethod {
            class: r.index(ConstantPool::class)?,
            method: r.optional_index(ConstantPool::name_and_type)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.class);
        out.put2(self.method);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CLASS, NAME_AND_TYPE, UTF8, expect_bad_index, round_trip};
    use super::super::{AttributeInfo, EnclosingMethod, InnerClass};

    #[test]
    fn inner_classes_may_lack_outer_class_and_name() {
        let info = round_trip(
            b"InnerClasses",
            &[0, 2, 0, CLASS, 0, CLASS, 0, UTF8, 0, 8, 0, CLASS, 0, 0, 0, 0, 0, 0],
        );
        let AttributeInfo::InnerClasses(classes) = info else { panic!("{info:?}") };
        let class = u16::from(CLASS);
        assert_eq!(
            classes,
            [
                InnerClass { inner: class, outer: class, name: UTF8.into(), flags: 8 },
                InnerClass { inner: class, outer: 0, name: 0, flags: 0 },
            ]
        );
        expect_bad_index(b"InnerClasses", &[0, 1, 0, 0, 0, 0, 0, 0, 0, 0], 2);
        expect_bad_index(b"InnerClasses", &[0, 1, 0, CLASS, 0, UTF8, 0, 0, 0, 0], 4);
        expect_bad_index(b"InnerClasses", &[0, 1, 0, CLASS, 0, 0, 0, CLASS, 0, 0], 6);
    }

    #[test]
    fn enclosing_methods() {
        let info = round_trip(b"EnclosingMethod", &[0, CLASS, 0, NAME_AND_TYPE]);
        let expected = EnclosingMethod { class: CLASS.into(), method: NAME_AND_TYPE.into() };
        assert_eq!(info, AttributeInfo::EnclosingMethod(expected));
        round_trip(b"EnclosingMethod", &[0, CLASS, 0, 0]);
        expect_bad_index(b"EnclosingMethod", &[0, CLASS, 0, CLASS], 2);
    }
}
