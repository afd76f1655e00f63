//! The classes of a class library and their direct supertypes, as a marked JDK keeps them. Lookups
//! work in place, since every JVM of it reads them.
//!
//! The format: a heading line; the number of classes, and the offset of each, in four bytes each,
//! big-endian; then the classes, sorted by name. A class is its name and those of its superclass
//! and superinterfaces, each ended by a zero, and one more zero. (Names in modified UTF-8 contain
//! no zero.)

use cct_classfile::bytes::PutBytes;

/// The first line.
const HEAD: &[u8] = b"cctrewrite classes 1\n";

/// The reason why bytes are not a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The heading is wrong.
    #[error("not a table of classes of this version of cctrewrite")]
    Head,
    /// It ends early.
    #[error("a table of classes that ends early")]
    Damaged,
}

/// The table of sorted classes.
pub fn encoded<'n, A: Iterator<Item = &'n [u8]>>(classes: impl Iterator<Item = (&'n [u8], A)>) -> Vec<u8> {
    let (mut begins, mut texts) = (Vec::new(), Vec::new());
    let mut count = 0;
    for (name, above) in classes {
        count += 1;
        begins.put4(texts.len() as u32);
        for name in std::iter::once(name).chain(above) {
            texts.extend_from_slice(name);
            texts.push(0);
        }
        texts.push(0);
    }
    let mut out = HEAD.to_vec();
    out.put4(count);
    out.append(&mut begins);
    out.append(&mut texts);
    out
}

/// A parsed table.
#[derive(Debug)]
pub struct Table {
    bytes: Vec<u8>,
    count: usize,
    /// Offset of the first class.
    texts: usize,
}

impl Table {
    /// Parses a table.
    ///
    /// # Errors
    /// If the bytes are not a table. The order of the classes is not checked: if somebody has
    /// changed a table, some classes may not be found.
    pub fn new(bytes: Vec<u8>) -> Result<Table, TableError> {
        if !bytes.starts_with(HEAD) {
            return Err(TableError::Head);
        }
        let count = four(&bytes, HEAD.len()).ok_or(TableError::Damaged)?;
        let texts = count.checked_mul(4).and_then(|size| size.checked_add(HEAD.len() + 4));
        let texts = texts.filter(|&texts| texts <= bytes.len()).ok_or(TableError::Damaged)?;
        Ok(Table { bytes, count, texts })
    }

    /// Whether the table has a class.
    pub fn has(&self, name: &[u8]) -> bool {
        self.find(name).is_some()
    }

    /// The direct supertypes of a class, if the table has the class.
    pub fn above<'t>(&'t self, name: &[u8]) -> Option<impl Iterator<Item = &'t [u8]> + use<'t>> {
        Some(self.names(self.find(name)?).skip(1))
    }

    fn find(&self, wanted: &[u8]) -> Option<usize> {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from + (to - from) / 2;
            match self.names(middle).next()?.cmp(wanted) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => from = middle + 1,
                std::cmp::Ordering::Greater => to = middle,
            }
        }
        None
    }

    /// The name of a class, and those of its direct supertypes.
    fn names(&self, class: usize) -> impl Iterator<Item = &[u8]> {
        let begin = four(&self.bytes, HEAD.len() + 4 + 4 * class).unwrap_or(usize::MAX);
        let text = self.texts.checked_add(begin).and_then(|at| self.bytes.get(at..)).unwrap_or_default();
        text.split(|&b| b == 0).take_while(|name| !name.is_empty())
    }
}

fn four(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes(four.try_into().ok()?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_found_with_what_is_above_them() {
        let above: [(&[u8], &[&[u8]]); 4] = [
            (b"a/A", &[b"java/lang/Object"]),
            (b"b/B", &[b"a/A", b"i/I", b"i/J"]),
            (b"b/Bb", &[b"b/B"]),
            (b"java/lang/Object", &[]),
        ];
        let table = Table::new(encoded(above.iter().map(|(name, above)| (*name, above.iter().copied()))));
        let table = table.unwrap();
        for (name, expected) in above {
            let found: Vec<_> = table.above(name).unwrap().collect();
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(name));
        }
        for other in [&b""[..], b"a", b"b/Ba", b"java/lang/Objects", b"z"] {
            assert!(!table.has(other) && table.above(other).is_none());
        }
        assert!(!Table::new(encoded(std::iter::empty::<(&[u8], std::iter::Empty<_>)>())).unwrap().has(b"a"));
    }

    #[test]
    fn anything_is_read_or_refused() {
        assert_eq!(Table::new(b"x".to_vec()).unwrap_err(), TableError::Head);
        assert_eq!(Table::new(HEAD.to_vec()).unwrap_err(), TableError::Damaged);
        arbtest::arbtest(|u| {
            let bytes: Vec<u8> = u.arbitrary()?;
            for bytes in [bytes.clone(), [HEAD, &bytes].concat(), [HEAD, &[0, 0, 0, 2], &bytes].concat()] {
                if let Ok(table) = Table::new(bytes) {
                    table.has(b"a/A");
                    let _ = table.above(b"java/lang/Object").map(Iterator::count);
                }
            }
            Ok(())
        });
    }
}
