//! Tables for debuggers: source lines and local variables (JVMS 4.7.12 to 4.7.14).

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::Result;

use super::structure::{Reader, Structure};

/// An entry of a `LineNumberTable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineNumber {
    /// First bytecode index of the line.
    pub start: u16,
    /// The line, counted from 1.
    pub line: u16,
}

impl<'a> Structure<'a> for LineNumber {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "line numbers";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(LineNumber { start: r.u2()?, line: r.u2()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.start);
        out.put2(self.line);
        Ok(())
    }
}

/// An entry of a `LocalVariableTable` or a `LocalVariableTypeTable`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalVariable {
    /// First bytecode index where the variable has a value.
    pub start: u16,
    /// Number of code bytes, from `start`, in which it has one.
    pub length: u16,
    /// Index of its name.
    pub name: Index,
    /// Index of its descriptor, or in a `LocalVariableTypeTable` of its generic signature.
    pub descriptor: Index,
    /// Slot of the variable, the first one for a long or double.
    pub slot: u16,
}

impl<'a> Structure<'a> for LocalVariable {
    const MIN_LENGTH: usize = 10;
    const PLURAL: &'static str = "local variables";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(LocalVariable {
            start: r.u2()?,
            length: r.u2()?,
            name: r.index(ConstantPool::utf8)?,
            descriptor: r.index(ConstantPool::utf8)?,
            slot: r.u2()?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        for part in [self.start, self.length, self.name, self.descriptor, self.slot] {
            out.put2(part);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CLASS, UTF8, expect_bad_index, parse, round_trip};
    use super::super::{AttributeInfo, LineNumber, LocalVariable, Structure};
    use crate::error::ErrorKind;

    #[test]
    fn line_numbers() {
        let info = round_trip(b"LineNumberTable", &[0, 2, 0, 0, 0, 7, 1, 2, 3, 4]);
        let lines = vec![LineNumber { start: 0, line: 7 }, LineNumber { start: 0x102, line: 0x304 }];
        assert_eq!(info, AttributeInfo::LineNumberTable(lines));
    }

    #[test]
    fn local_variables() {
        let bytes = [0, 1, 0, 1, 0, 2, 0, UTF8, 0, UTF8, 0, 5];
        let variable =
            LocalVariable { start: 1, length: 2, name: UTF8.into(), descriptor: UTF8.into(), slot: 5 };
        for name in [&b"LocalVariableTable"[..], b"LocalVariableTypeTable"] {
            match round_trip(name, &bytes) {
                AttributeInfo::LocalVariableTable(v) | AttributeInfo::LocalVariableTypeTable(v) => {
                    assert_eq!(v, [variable]);
                }
                other => panic!("{other:?}"),
            }
        }
        expect_bad_index(b"LocalVariableTable", &[0, 1, 0, 1, 0, 2, 0, CLASS, 0, UTF8, 0, 5], 6);
        expect_bad_index(b"LocalVariableTable", &[0, 1, 0, 1, 0, 2, 0, UTF8, 0, 0, 0, 5], 8);
    }

    #[test]
    fn a_table_ends_where_its_count_says() {
        let kind = |bytes: &[u8]| parse(b"LineNumberTable", bytes).unwrap_err().kind().clone();
        assert_eq!(kind(&[0, 1, 0, 0, 0]), ErrorKind::Truncated { needed: 2, available: 1 });
        assert_eq!(kind(&[0, 1, 0, 0, 0, 7, 9]), ErrorKind::TrailingBytes(1));
        assert_eq!(parse(b"Synthetic", &[0]).unwrap_err().kind(), &ErrorKind::TrailingBytes(1));
    }

    #[test]
    fn a_table_too_long_for_its_count_is_not_written() {
        let lines = vec![LineNumber { start: 0, line: 1 }; 65536];
        let error = lines.write(&mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::TooMany("line numbers"));
        lines[..65535].to_vec().write(&mut Vec::new()).unwrap();
    }
}
