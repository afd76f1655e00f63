//! Descriptors (JVMS 4.3), parsed in place without copies.

use crate::error::{Error, ErrorKind, Result};
use crate::mutf8;

/// One type of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType<'a> {
    /// `B C D F I J S Z`, or `V` as a return type.
    Base(u8),
    /// A class, by internal name.
    Class(&'a [u8]),
    /// An array, by its whole descriptor.
    Array(&'a [u8]),
}

impl FieldType<'_> {
    /// Local-variable and stack slots (JVMS 2.6.1): 0 for void, 2 for long and double.
    pub fn slots(&self) -> u16 {
        match self {
            FieldType::Base(b'V') => 0,
            FieldType::Base(b'J' | b'D') => 2,
            _ => 1,
        }
    }

    /// Whether the value is a reference.
    pub fn is_reference(&self) -> bool {
        !matches!(self, FieldType::Base(_))
    }
}

/// Splits the first type off `bytes`. It accepts `V`; callers that do not allow it check.
fn split_type(bytes: &[u8]) -> Option<(FieldType<'_>, &[u8])> {
    match *bytes.first()? {
        base @ (b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b'V') => {
            Some((FieldType::Base(base), &bytes[1..]))
        }
        b'L' => {
            let length = class_name_length(&bytes[1..])?;
            Some((FieldType::Class(&bytes[1..=length]), &bytes[length + 2..]))
        }
        b'[' => {
            let dimensions = bytes.iter().take_while(|&&b| b == b'[').count();
            let length = match *bytes.get(dimensions)? {
                b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => 1,
                b'L' => class_name_length(&bytes[dimensions + 1..])? + 2,
                _ => return None,
            };
            let (this, rest) = bytes.split_at(dimensions + length);
            (dimensions <= 255).then_some((FieldType::Array(this), rest))
        }
        _ => None,
    }
}

/// Splits the first type off a checked descriptor.
fn next_type(bytes: &[u8]) -> Option<(FieldType<'_>, &[u8])> {
    let element = bytes.iter().position(|&b| b != b'[')?;
    let length = match bytes[element] {
        b'L' => bytes.iter().position(|&b| b == b';')? + 1,
        _ => element + 1,
    };
    let (this, rest) = bytes.split_at(length);
    let parsed = match *this {
        [b'L', ref name @ .., _] => FieldType::Class(name),
        [base] => FieldType::Base(base),
        _ => FieldType::Array(this),
    };
    Some((parsed, rest))
}

/// Length of the class name before a semicolon: unqualified names with slashes between them (JVMS
/// 4.2.1, 4.2.2).
fn class_name_length(bytes: &[u8]) -> Option<usize> {
    // Start of the current unqualified name.
    let mut start = 0;
    loop {
        let at = start + bytes.get(start..)?.iter().position(|&b| ENDS_NAME[usize::from(b)])?;
        match bytes[at] {
            b';' if at > start => return Some(at),
            b'/' if at > start => start = at + 1,
            _ => return None,
        }
    }
}

/// The bytes that no unqualified name has (JVMS 4.2.2).
const ENDS_NAME: [bool; 256] = {
    let mut ends = [false; 256];
    ends[b';' as usize] = true;
    ends[b'/' as usize] = true;
    ends[b'.' as usize] = true;
    ends[b'[' as usize] = true;
    ends
};

#[cold]
fn bad(descriptor: &[u8]) -> Error {
    ErrorKind::BadDescriptor(mutf8::lossy(descriptor)).into()
}

/// Parses a field descriptor.
pub fn field_type(descriptor: &[u8]) -> Result<FieldType<'_>> {
    match split_type(descriptor) {
        Some((FieldType::Base(b'V'), _)) | None => Err(bad(descriptor)),
        Some((t, [])) => Ok(t),
        Some(_) => Err(bad(descriptor)),
    }
}

/// Offset of the parenthesis that ends a method descriptor's parameters. Class names may contain
/// parentheses too (JVMS 4.2.1), before and after it.
pub fn end_of_parameters(descriptor: &[u8]) -> Option<usize> {
    let mut is_in_a_name = false;
    descriptor.iter().position(|&b| {
        let ends = b == b')' && !is_in_a_name;
        is_in_a_name = if is_in_a_name { b != b';' } else { b == b'L' };
        ends
    })
}

/// A checked method descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodDescriptor<'a> {
    raw: &'a [u8],
    /// Offset of the closing parenthesis.
    close: usize,
    slots: u16,
    /// The return type, `Base(b'V')` for void.
    pub result: FieldType<'a>,
}

impl<'a> MethodDescriptor<'a> {
    /// Parses and checks a method descriptor. The caller must refuse more than 255 argument slots
    /// (JVMS 4.3.3 counts `this`).
    pub fn parse(raw: &'a [u8]) -> Result<Self> {
        let Some(mut rest) = raw.strip_prefix(b"(") else { return Err(bad(raw)) };
        let mut slots = 0u16;
        while rest.first() != Some(&b')') {
            match split_type(rest) {
                Some((FieldType::Base(b'V'), _)) | None => return Err(bad(raw)),
                Some((t, after)) => {
                    slots = slots.saturating_add(t.slots());
                    rest = after;
                }
            }
        }
        let close = raw.len() - rest.len();
        match split_type(&rest[1..]) {
            Some((result, [])) => Ok(MethodDescriptor { raw, close, slots, result }),
            _ => Err(bad(raw)),
        }
    }

    /// The descriptor's bytes.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// Slots of the arguments, without `this`.
    pub fn argument_slots(&self) -> u16 {
        self.slots
    }

    /// The arguments in order.
    pub fn arguments(&self) -> impl Iterator<Item = FieldType<'a>> + use<'a> {
        let mut rest = &self.raw[1..self.close];
        std::iter::from_fn(move || {
            let (t, after) = next_type(rest)?;
            rest = after;
            Some(t)
        })
    }

    /// The parsed form of the descriptor with more parameters after the last one, which take
    /// `slots` slots. `longer` is the result of [`MethodDescriptor::with_parameters`].
    pub fn extended<'b>(&self, longer: &'b [u8], slots: u16) -> Result<MethodDescriptor<'b>> {
        let close = self.close + longer.len().saturating_sub(self.raw.len());
        match longer.get(close + 1..).and_then(next_type) {
            Some((result, [])) => {
                Ok(MethodDescriptor { raw: longer, close, slots: self.slots.saturating_add(slots), result })
            }
            _ => Err(bad(longer)),
        }
    }

    /// The descriptor with more parameters after the last one.
    pub fn with_parameters(&self, added: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.raw.len() + added.len());
        out.extend_from_slice(&self.raw[..self.close]);
        out.extend_from_slice(added);
        out.extend_from_slice(&self.raw[self.close..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_end_outside_of_names() {
        for (descriptor, end) in [("()V", 1), ("(La)b;I)La)b;", 7), ("([La(L)b;)L;", 9), ("(J)[LL);", 2)] {
            assert_eq!(end_of_parameters(descriptor.as_bytes()), Some(end), "{descriptor}");
        }
        assert_eq!(end_of_parameters(b"(La)b"), None);
    }

    #[test]
    fn method_descriptors_are_walked() {
        let d = MethodDescriptor::parse(b"(IJ[[D[Ljava/lang/String;Ljava/lang/Object;)V").unwrap();
        assert_eq!(d.argument_slots(), 6);
        let args: Vec<_> = d.arguments().collect();
        assert_eq!(args.len(), 5);
        assert_eq!(args[2], FieldType::Array(b"[[D"));
        assert_eq!(args[4], FieldType::Class(b"java/lang/Object"));
        assert_eq!(d.result, FieldType::Base(b'V'));
        let longer = d.with_parameters(b"J");
        assert_eq!(longer, b"(IJ[[D[Ljava/lang/String;Ljava/lang/Object;J)V");
        assert_eq!(d.extended(&longer, 2).unwrap(), MethodDescriptor::parse(&longer).unwrap());
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        for bad in [
            &b""[..],
            b"()",
            b"(V)V",
            b"(I",
            b"I",
            b"()VV",
            b"(L;)V",
            b"(La.b;)V",
            b"([V)V",
            b"()[",
            b"(Lx)V",
            b"(La//b;)V",
            b"(L/a;)V",
            b"(La/;)V",
        ] {
            assert!(MethodDescriptor::parse(bad).is_err(), "{bad:?}");
        }
        for bad in [&b"V"[..], b"", b"II", b"[", b"L;", b"Lx"] {
            assert!(field_type(bad).is_err(), "{bad:?}");
        }
        assert_eq!(field_type(b"[[I").unwrap(), FieldType::Array(b"[[I"));
    }
}
