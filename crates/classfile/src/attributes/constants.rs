//! Bootstrap methods, and indices that form attributes alone or in tables, by the kind of the
//! constant that they name.

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index, tag};
use crate::error::Result;

use super::structure::{Reader, Structure};

/// Index of a `CONSTANT_Class`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassIndex(pub Index);

/// Index of a `CONSTANT_Utf8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Utf8Index(pub Index);

/// Index of a constant that is a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConstantIndex(pub Index);

impl ConstantIndex {
    /// Reads the index of a constant that may be the initial value of a static field (JVMS table
    /// 4.7.2-A).
    pub(super) fn read_field_value(r: &mut Reader<'_, '_>) -> Result<Self> {
        const TAGS: [u8; 5] = [tag::INTEGER, tag::FLOAT, tag::LONG, tag::DOUBLE, tag::STRING];
        r.index_tagged(&TAGS, "an integer, float, long, double or string constant").map(ConstantIndex)
    }
}

impl<'a> Structure<'a> for ClassIndex {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "classes";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        r.index(ConstantPool::class).map(ClassIndex)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        self.0.write(out)
    }
}

impl<'a> Structure<'a> for Utf8Index {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "names";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        r.index(ConstantPool::utf8).map(Utf8Index)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        self.0.write(out)
    }
}

/// Reads an argument of a bootstrap method: any loadable constant (JVMS table 4.4-C).
impl<'a> Structure<'a> for ConstantIndex {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "bootstrap arguments";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        const LOADABLE: [u8; 9] = [
            tag::INTEGER,
            tag::FLOAT,
            tag::LONG,
            tag::DOUBLE,
            tag::CLASS,
            tag::STRING,
            tag::METHOD_HANDLE,
            tag::METHOD_TYPE,
            tag::DYNAMIC,
        ];
        r.index_tagged(&LOADABLE, "a loadable constant").map(ConstantIndex)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        self.0.write(out)
    }
}

/// A bootstrap method with its static arguments (JVMS 4.7.23).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapMethod {
    /// `CONSTANT_MethodHandle` of the method.
    pub method: Index,
    /// Static arguments of the method.
    pub arguments: Vec<ConstantIndex>,
}

impl<'a> Structure<'a> for BootstrapMethod {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "bootstrap methods";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(BootstrapMethod { method: r.index(ConstantPool::method_handle)?, arguments: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.method);
        self.arguments.write(out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CLASS, HANDLE, LONG, STRING, UTF8, expect_bad_index, round_trip};
    use super::super::{AttributeInfo, BootstrapMethod, ClassIndex, ConstantIndex};

    #[test]
    fn bootstrap_methods_keep_their_arguments() {
        let info = round_trip(b"BootstrapMethods", &[0, 1, 0, HANDLE, 0, 2, 0, STRING, 0, CLASS]);
        let AttributeInfo::BootstrapMethods(methods) = info else { panic!("{info:?}") };
        let arguments = vec![ConstantIndex(STRING.into()), ConstantIndex(CLASS.into())];
        assert_eq!(methods, [BootstrapMethod { method: HANDLE.into(), arguments }]);
        expect_bad_index(b"BootstrapMethods", &[0, 1, 0, CLASS, 0, 0], 2);
        expect_bad_index(b"BootstrapMethods", &[0, 1, 0, HANDLE, 0, 1, 0, UTF8], 6);
    }

    #[test]
    fn single_indices_must_name_the_right_kind() {
        assert_eq!(round_trip(b"NestHost", &[0, CLASS]), AttributeInfo::NestHost(ClassIndex(CLASS.into())));
        round_trip(b"ConstantValue", &[0, LONG]);
        round_trip(b"Signature", &[0, UTF8]);
        round_trip(b"Exceptions", &[0, 2, 0, CLASS, 0, CLASS]);
        expect_bad_index(b"NestHost", &[0, UTF8], 0);
        expect_bad_index(b"NestHost", &[0, 0], 0);
        expect_bad_index(b"ConstantValue", &[0, CLASS], 0);
        expect_bad_index(b"Signature", &[0, CLASS], 0);
        expect_bad_index(b"Exceptions", &[0, 2, 0, CLASS, 0, UTF8], 4);
    }
}
