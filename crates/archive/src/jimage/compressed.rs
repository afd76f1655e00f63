//! Resources that jlink has compressed (`--compress`). Compression consists of nested steps: a
//! header, and contents for the decompressor that it names. `zip` inflates. `compact-cp` restores
//! the strings of a class's constant pool, which jlink has moved to the strings of the image, where
//! classes share them.

use std::borrow::Cow;

use super::format::Order;
use crate::codec;
use crate::error::EntryProblem;
use crate::jimage::strings::Strings;
use crate::limits::Budget;

/// First word of a compressed resource.
const MAGIC: u32 = 0xCAFE_FAFA;

/// Offsets in the header. Three fields are unused: the size of the compressed contents, a word that
/// is always -1, and the mark of the last step. The resource has its own end, and no header follows
/// the last step.
mod header {
    pub(super) const SIZE: usize = 29;
    pub(super) const UNCOMPRESSED: usize = 12;
    pub(super) const NAME: usize = 20;
}

/// Maximum number of nested steps. jlink uses at most two.
const MAX_STEPS: usize = 8;

/// The contents of a compressed resource, which must come to `size` bytes.
pub(super) fn unfold<'b>(
    order: Order,
    strings: Strings<'_>,
    stored: &'b [u8],
    size: u64,
    budget: &Budget<'_>,
) -> Result<Cow<'b, [u8]>, EntryProblem> {
    let mut bytes = Cow::Borrowed(stored);
    let mut steps = 0;
    while order.u32_at(&bytes, 0) == Some(MAGIC) {
        let problem = || EntryProblem::Image("its compression header is cut off");
        let declared = order.u64_at(&bytes, header::UNCOMPRESSED).ok_or_else(problem)?;
        let name = order.u32_at(&bytes, header::NAME).ok_or_else(problem)?;
        let packed = bytes.get(header::SIZE..).ok_or_else(problem)?;
        steps += 1;
        if steps > MAX_STEPS {
            return Err(EntryProblem::Image("it is compressed too many times"));
        }
        budget.charge(packed.len() as u64, declared)?;
        let unpacked = match strings.get(name) {
            Some(b"zip") => codec::inflate_zlib(packed, declared)?,
            Some(b"compact-cp") => share_back(packed, strings, declared)?,
            Some(other) => {
                return Err(EntryProblem::Decompressor(String::from_utf8_lossy(other).into_owned()));
            }
            None => return Err(EntryProblem::Image("the name of its compression lies outside the strings")),
        };
        bytes = Cow::Owned(unpacked);
    }
    if bytes.len() as u64 != size {
        return Err(EntryProblem::Size { declared: size, actual: bytes.len() as u64 });
    }
    Ok(bytes)
}

/// Tags of a constant pool (JVMS 4.4), and those for a shared string and for a descriptor of shared
/// names.
mod tag {
    pub(super) const UTF8: u8 = 1;
    pub(super) const LONG: u8 = 5;
    pub(super) const DOUBLE: u8 = 6;
    pub(super) const SHARED_STRING: u8 = 23;
    pub(super) const SHARED_DESCRIPTOR: u8 = 25;
}

/// Number of bytes after the tag of a constant; 0 for tags that no constant has, as in the JDK.
const CONSTANT_SIZES: [usize; 21] = [0, 0, 0, 4, 4, 8, 8, 2, 2, 4, 4, 4, 4, 0, 0, 3, 2, 4, 4, 2, 2];

/// Magic and version of a class file.
const CLASS_START: usize = 8;

/// Restores the shared strings in a class of `size` bytes.
fn share_back(packed: &[u8], strings: Strings<'_>, size: u64) -> Result<Vec<u8>, EntryProblem> {
    let mut class = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let mut rest = Rest(packed);
    class.extend(rest.take(CLASS_START)?);
    let count = rest.take(2)?;
    class.extend(count);
    let count = u16::from_be_bytes([count[0], count[1]]);
    let mut index = 1;
    while index < count {
        let tag = rest.take(1)?[0];
        match tag {
            tag::UTF8 => {
                let len = rest.take(2)?;
                class.push(tag);
                class.extend(len);
                class.extend(rest.take(usize::from(u16::from_be_bytes([len[0], len[1]])))?);
            }
            tag::SHARED_STRING => push_utf8(&mut class, rest.string(strings)?)?,
            tag::SHARED_DESCRIPTOR => push_utf8(&mut class, &rest.descriptor(strings)?)?,
            _ => {
                let len = CONSTANT_SIZES.get(usize::from(tag));
                let len = len.ok_or(EntryProblem::Image("its constant pool has a constant of no kind"))?;
                class.push(tag);
                class.extend(rest.take(*len)?);
            }
        }
        index += if matches!(tag, tag::LONG | tag::DOUBLE) { 2 } else { 1 };
        if class.len() as u64 > size {
            return Err(EntryProblem::Size { declared: size, actual: class.len() as u64 });
        }
    }
    class.extend(rest.0);
    Ok(class)
}

fn push_utf8(class: &mut Vec<u8>, string: &[u8]) -> Result<(), EntryProblem> {
    let len = u16::try_from(string.len());
    let len = len.map_err(|_| EntryProblem::Image("a shared string is longer than a constant may be"))?;
    class.push(tag::UTF8);
    class.extend(len.to_be_bytes());
    class.extend(string);
    Ok(())
}

/// The rest to be read.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, len: usize) -> Result<&'b [u8], EntryProblem> {
        let (taken, rest) =
            self.0.split_at_checked(len).ok_or(EntryProblem::Image("its constant pool is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a number. If the highest bit of its first byte is set, the three highest bits give its
    /// length in bytes; otherwise it has four bytes.
    fn number(&mut self) -> Result<u32, EntryProblem> {
        let first = self.take(1)?[0];
        let (len, value) =
            if first & 0x80 == 0 { (4, first) } else { (usize::from(first >> 5 & 3), first & 0x1F) };
        let more = len.checked_sub(1).ok_or(EntryProblem::Image("a number has no bytes"))?;
        Ok(self.take(more)?.iter().fold(u32::from(value), |sum, &byte| sum << 8 | u32::from(byte)))
    }

    fn string<'s>(&mut self, strings: Strings<'s>) -> Result<&'s [u8], EntryProblem> {
        strings.get(self.number()?).ok_or(EntryProblem::Image("a shared string lies outside the strings"))
    }

    /// A descriptor or signature whose class names were removed after each `L`: package and class,
    /// two strings each.
    fn descriptor(&mut self, strings: Strings<'_>) -> Result<Vec<u8>, EntryProblem> {
        let form = self.string(strings)?;
        let len = self.number()?;
        let mut names = Rest(self.take(usize::try_from(len).unwrap_or(usize::MAX))?);
        let mut whole = Vec::with_capacity(2 * form.len());
        for &byte in form {
            whole.push(byte);
            if byte == b'L' {
                let package = names.string(strings)?;
                whole.extend(package);
                if !package.is_empty() {
                    whole.push(b'/');
                }
                whole.extend(names.string(strings)?);
            }
            if whole.len() > usize::from(u16::MAX) {
                return Err(EntryProblem::Image("a shared descriptor is longer than a constant may be"));
            }
        }
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    /// Offsets: 0 empty, 1 zip, 5 compact-cp, 16 java/lang, 26 Object, 33 (L;)V.
    const STRINGS: &[u8] = b"\0zip\0compact-cp\0java/lang\0Object\0(L;)V\0";

    fn step(name: u32, size: u64, packed: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_le_bytes().to_vec();
        bytes.extend((packed.len() as u64).to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(name.to_le_bytes());
        bytes.extend((-1i32).to_le_bytes());
        bytes.push(1);
        bytes.extend(packed);
        bytes
    }

    fn read(stored: &[u8], size: u64) -> Result<Vec<u8>, EntryProblem> {
        let limits = Limits::default();
        let unfolded = unfold(Order::Little, Strings(STRINGS), stored, size, &Budget::new(&limits));
        unfolded.map(Cow::into_owned)
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A class with a shared string, a shared descriptor, a plain string and a long; and its
    /// expected form.
    fn shared_class() -> (Vec<u8>, Vec<u8>) {
        let start = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 6];
        let tail = [5, 0, 0, 0, 0, 0, 0, 0, 7, 0xAB, 0xCD];
        let mut packed = start.to_vec();
        packed.extend([23, 0xA0 | 26, 25, 0xC0, 33, 2, 0xA0 | 16, 0xA0 | 26]);
        packed[start.len() + 5] = 0xA2;
        packed.extend([1, 0, 1, b'x']);
        packed.extend(tail);
        let mut class = start.to_vec();
        class.extend(b"\x01\0\x06Object\x01\0\x15(Ljava/lang/Object;)V\x01\0\x01x");
        class[start.len() + 11] = 20 + 1;
        class.extend(tail);
        (packed, class)
    }

    #[test]
    fn steps_are_undone_one_after_the_other() {
        let (packed, class) = shared_class();
        let size = class.len() as u64;
        let shared = step(5, size, &packed);
        assert_eq!(read(&shared, size).unwrap(), class);
        assert_eq!(read(&step(1, shared.len() as u64, &zlib(&shared)), size).unwrap(), class);
        assert_eq!(read(&class, size).unwrap(), class, "no step at all");
    }

    #[test]
    fn lies_and_damage_are_told() {
        let (packed, class) = shared_class();
        let size = class.len() as u64;
        let shared = step(5, size, &packed);
        for len in 0..shared.len() {
            assert!(read(&shared[..len], size).is_err(), "cut to {len} bytes");
        }
        assert!(matches!(read(&shared, size + 1), Err(EntryProblem::Size { .. })));
        assert!(matches!(read(&step(5, 20, &packed), 20), Err(EntryProblem::Size { .. })));
        assert!(matches!(read(&step(16, size, &packed), size), Err(EntryProblem::Decompressor(_))));
        assert!(matches!(read(&step(999, size, &packed), size), Err(EntryProblem::Image(_))));
        assert!(matches!(read(&step(1, 100, &[1, 2, 3]), 100), Err(EntryProblem::Inflate(_))));
        let mut deep = class.clone();
        for _ in 0..=MAX_STEPS {
            deep = step(1, deep.len() as u64, &zlib(&deep));
        }
        assert!(matches!(read(&deep, size), Err(EntryProblem::Image(_))));
        for at in 10..packed.len() {
            for value in [0, 0x80, 0xFF] {
                let mut packed = packed.clone();
                packed[at] = value;
                let _ = read(&step(5, size, &packed), size);
            }
        }
    }
}
