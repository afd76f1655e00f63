//! Packed numbers and texts: numbers take seven bits a byte, the lowest first.

/// Appends a number.
pub fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes with their length.
pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Reads packed values. Missing or too large ones are `None`.
#[derive(Debug, Clone, Copy)]
pub struct Unpacker<'a>(pub &'a [u8]);

impl<'a> Unpacker<'a> {
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            value |= u64::from(byte & 0x7F).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    pub fn u32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    pub fn u16(&mut self) -> Option<u16> {
        u16::try_from(self.number()?).ok()
    }

    pub fn u8(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    /// Reads a number of items that take at least a byte each: it is at most the number of
    /// remaining bytes.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&count| count <= self.0.len())
    }

    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
}
