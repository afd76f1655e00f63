//! Formal parameters of a method, as its attribute states them (JVMS 4.7.24).

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{ErrorKind, Result};

use super::structure::{Reader, Structure};

/// Name and flags of a formal parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodParameter {
    /// Index of its name; 0 for a parameter without one.
    pub name: Index,
    /// `ACC_FINAL`, `ACC_SYNTHETIC` and `ACC_MANDATED` (0x8000).
    pub flags: u16,
}

impl<'a> Structure<'a> for MethodParameter {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "method parameters";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(MethodParameter { name: r.optional_index(ConstantPool::utf8)?, flags: r.u2()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.name);
        out.put2(self.flags);
        Ok(())
    }
}

/// Formal parameters in order, at most 255. Their number need not match the descriptor's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodParameters(pub Vec<MethodParameter>);

impl<'a> Structure<'a> for MethodParameters {
    const MIN_LENGTH: usize = 1;
    const PLURAL: &'static str = "lists of method parameters";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let count = r.u1()?;
        r.list(usize::from(count)).map(MethodParameters)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let count = u8::try_from(self.0.len()).map_err(|_| ErrorKind::TooMany(MethodParameter::PLURAL))?;
        out.put1(count);
        self.0.iter().try_for_each(|parameter| parameter.write(out))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CLASS, UTF8, expect_bad_index, round_trip};
    use super::super::{AttributeInfo, MethodParameter, MethodParameters, Structure};
    use crate::error::ErrorKind;

    #[test]
    fn parameters_may_be_nameless() {
        let info = round_trip(b"MethodParameters", &[2, 0, UTF8, 0, 0x10, 0, 0, 0x80, 0]);
        let AttributeInfo::MethodParameters(MethodParameters(list)) = info else { panic!("{info:?}") };
        let named = MethodParameter { name: UTF8.into(), flags: 0x10 };
        assert_eq!(list, [named, MethodParameter { name: 0, flags: 0x8000 }]);
        expect_bad_index(b"MethodParameters", &[1, 0, CLASS, 0, 0], 1);
    }

    #[test]
    fn more_than_255_are_refused() {
        let list = MethodParameters(vec![MethodParameter { name: 0, flags: 0 }; 256]);
        assert_eq!(list.write(&mut Vec::new()).unwrap_err().kind(), &ErrorKind::TooMany("method parameters"));
    }
}
