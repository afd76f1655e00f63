//! The facts about a class that its code depends on: version, and indices of attribute names.

use crate::bytes::PutBytes;
use crate::constant_pool::{Index, PoolAdditions};
use crate::error::{Error, ErrorKind, Result};

/// The version of a class file. The encoding of code depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Version {
    /// `major_version`.
    pub major: u16,
    /// `minor_version`.
    pub minor: u16,
}

impl Version {
    /// Whether code has a StackMapTable (class files from version 50 on, JVMS 4.10.1).
    pub fn has_frames(self) -> bool {
        self.major >= 50
    }

    /// Writes `max_stack`, `max_locals` and `code_length`. Before version 45.3 these fields are
    /// narrower.
    pub fn put_code_head(
        self,
        max_stack: u16,
        max_locals: u16,
        length: u32,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        if (self.major, self.minor) >= (45, 3) {
            out.put2(max_stack);
            out.put2(max_locals);
            out.put4(length);
            return Ok(());
        }
        let narrow = |n: u16, what| u8::try_from(n).map_err(|_| Error::new(ErrorKind::TooMany(what)));
        out.put1(narrow(max_stack, "stack slots for a class file before version 45.3")?);
        out.put1(narrow(max_locals, "local variables for a class file before version 45.3")?);
        out.put2(u16::try_from(length).map_err(|_| Error::new(ErrorKind::MethodTooLarge(length as usize)))?);
        Ok(())
    }
}

/// The facts about a class that its code depends on: version, and indices of attribute names.
#[derive(Debug, Default)]
pub struct AttributeNames {
    /// The version of the class as written.
    pub version: Version,
    /// Constant-pool index of `StackMapTable`; `None` until somebody asks for it.
    pub(crate) stack_map_table: Option<Index>,
    /// Constant-pool index of `Code`; `None` until somebody asks for it.
    pub(crate) code: Option<Index>,
    /// Constant-pool index of `LineNumberTable`; `None` until somebody asks for it.
    pub(crate) line_number_table: Option<Index>,
}

impl AttributeNames {
    /// The constant-pool index of `StackMapTable`. Adds the name if it is missing.
    pub fn stack_map_table(&mut self, additions: &mut PoolAdditions) -> Result<Index> {
        cached(&mut self.stack_map_table, || additions.utf8(b"StackMapTable"))
    }

    /// The constant-pool index of `Code`. Adds the name if it is missing.
    pub fn code(&mut self, additions: &mut PoolAdditions) -> Result<Index> {
        cached(&mut self.code, || additions.utf8(b"Code"))
    }

    /// The constant-pool index of `LineNumberTable`. Adds the name if it is missing.
    pub fn line_number_table(&mut self, additions: &mut PoolAdditions) -> Result<Index> {
        cached(&mut self.line_number_table, || additions.utf8(b"LineNumberTable"))
    }
}

fn cached(slot: &mut Option<Index>, make: impl FnOnce() -> Result<Index>) -> Result<Index> {
    match *slot {
        Some(index) => Ok(index),
        None => Ok(*slot.insert(make()?)),
    }
}

/// Fills in the length of an attribute that begins at `start` and ends at the end of `out`.
pub(crate) fn patch_length(out: &mut [u8], start: usize) {
    let length = (out.len() - start - 6) as u32;
    out[start + 2..start + 6].copy_from_slice(&length.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_before_version_45_3_has_a_narrow_head() {
        let head = |minor, locals| {
            let mut out = Vec::new();
            Version { major: 45, minor }.put_code_head(1, locals, 3, &mut out).map(|()| out)
        };
        assert_eq!(head(3, 2).unwrap(), [0, 1, 0, 2, 0, 0, 0, 3]);
        assert_eq!(head(2, 2).unwrap(), [1, 2, 0, 3]);
        assert!(head(2, 256).is_err());
    }
}
