//! The log in the file: names, and how the numbers were recorded. A list of entries to which the
//! JVM only appends.

use cct_classfile::{MemberRef, NameAndType};
use cct_index::mid::{ClassHash, Mid, Shape};

/// An entry. Names of classes and methods are those of class files (modified UTF-8), all other
/// texts UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A text. Words of the memory refer to it by its position in the log plus one.
    Text(&'a str),
    /// A key and value of the profile's description; a later entry of the key replaces it.
    Meta(&'a str, &'a str),
    /// A note for the reader of the profile.
    Note(&'a str),
    /// A note for the reader that holds only if there are classes that were not rewritten.
    NoteWithRawClasses(&'a str),
    /// A key and value of the description that hold only if there are classes that were not
    /// rewritten.
    MetaWithRawClasses(&'a str, &'a str),
    /// A class that was not rewritten.
    RawClass(&'a str),
    /// A problem with a class that was defined while the program ran, and the class's name.
    Trouble(&'a str, &'a str),
    /// The file that contains an index of the class library, and the index's provenance.
    IndexFile(&'a str, &'a [u8]),
    /// The jar that contains an index of the class library, and the index's provenance.
    IndexInJar(&'a str, &'a [u8]),
    /// An index of the class library.
    Index(&'a [u8]),
    /// A rewritten class that is in no index: its name, its hash, and its methods. A method has its
    /// original slots, its flags, its name and its descriptor, each text after a length of two
    /// bytes. The positions of its bytecodes follow, after a length of four bytes.
    Class(&'a [u8], ClassHash, &'a [u8]),
    /// A method that its callers count, with its id.
    Foreign(Mid, MemberRef<'a>),
}

impl Entry<'_> {
    /// Appends the entry's bytes: the kind, the length of the rest in four bytes, and then each
    /// part. All parts but the last are preceded by their lengths.
    pub fn encode(&self, to: &mut Vec<u8>) {
        let number;
        let (kind, parts): (u8, &[&[u8]]) = match self {
            Entry::Text(text) => (1, &[text.as_bytes()]),
            Entry::Meta(key, value) => (2, &[key.as_bytes(), value.as_bytes()]),
            Entry::Note(text) => (3, &[text.as_bytes()]),
            Entry::NoteWithRawClasses(text) => (4, &[text.as_bytes()]),
            Entry::MetaWithRawClasses(key, value) => (5, &[key.as_bytes(), value.as_bytes()]),
            Entry::RawClass(name) => (6, &[name.as_bytes()]),
            Entry::Trouble(trouble, name) => (7, &[trouble.as_bytes(), name.as_bytes()]),
            Entry::IndexFile(path, provenance) => (8, &[path.as_bytes(), provenance]),
            Entry::Index(bytes) => (9, &[bytes]),
            Entry::IndexInJar(path, provenance) => (12, &[path.as_bytes(), provenance]),
            Entry::Class(name, hash, methods) => {
                number = hash.0.to_le_bytes();
                (10, &[name, &number, methods])
            }
            Entry::Foreign(mid, MemberRef { class, name, descriptor }) => {
                number = mid.0.to_le_bytes();
                (11, &[&number, class, name, descriptor])
            }
        };
        let last = parts.len() - 1;
        let length: usize = parts.iter().map(|part| part.len()).sum::<usize>() + 4 * last;
        to.push(kind);
        to.extend((length as u32).to_le_bytes());
        for (i, part) in parts.iter().enumerate() {
            if i < last {
                to.extend((part.len() as u32).to_le_bytes());
            }
            to.extend_from_slice(part);
        }
    }
}

/// The entries of a log, with their positions. `None` stands for a malformed entry; an incomplete
/// one ends the list.
pub fn entries(log: &[u8]) -> impl Iterator<Item = (u64, Option<Entry<'_>>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let place = at as u64;
        let rest = log.get(at..).filter(|rest| !rest.is_empty())?;
        let whole = rest.split_first_chunk::<5>().and_then(|(&[kind, length @ ..], rest)| {
            Some((kind, rest.get(..u32::from_le_bytes(length) as usize)?))
        });
        let Some((kind, body)) = whole else {
            at = log.len();
            return Some((place, None));
        };
        at += 5 + body.len();
        Some((place, decode(kind, body)))
    })
}

fn decode(kind: u8, body: &[u8]) -> Option<Entry<'_>> {
    let mut rest = body;
    let mut part = || {
        let (length, behind) = rest.split_first_chunk()?;
        let (part, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = behind;
        Some(part)
    };
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
    Some(match kind {
        1 => Entry::Text(text(body)?),
        2 => Entry::Meta(text(part()?)?, text(rest)?),
        3 => Entry::Note(text(body)?),
        4 => Entry::NoteWithRawClasses(text(body)?),
        5 => Entry::MetaWithRawClasses(text(part()?)?, text(rest)?),
        6 => Entry::RawClass(text(body)?),
        7 => Entry::Trouble(text(part()?)?, text(rest)?),
        8 => Entry::IndexFile(text(part()?)?, rest),
        9 => Entry::Index(body),
        10 => Entry::Class(part()?, ClassHash(number(part()?)?), rest),
        12 => Entry::IndexInJar(text(part()?)?, rest),
        11 => Entry::Foreign(Mid(number(part()?)?), MemberRef::new(part()?, part()?, rest)),
        _ => return None,
    })
}

/// A method of an [`Entry::Class`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedMethod<'a> {
    /// The part of the method's id besides the hash.
    pub shape: Shape,
    /// Flags, as in an index.
    pub flags: u8,
    /// Name and original descriptor.
    pub method: NameAndType<'a>,
    /// The original positions of its bytecodes, if call sites are distinguished
    /// ([`cct_index::positions`]).
    pub positions: &'a [u8],
}

/// The methods of an [`Entry::Class`]. Ends where the bytes do.
pub fn methods(packed: &[u8]) -> impl Iterator<Item = PackedMethod<'_>> {
    let mut rest = packed;
    std::iter::from_fn(move || {
        let (&[slots, on_entry, flags], behind) = rest.split_first_chunk()?;
        // Out of range it would be another method's id.
        let shape = Shape::checked(slots, on_entry)?;
        rest = behind;
        let mut text = || {
            let (length, behind) = rest.split_first_chunk()?;
            let (text, behind) = behind.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            rest = behind;
            Some(text)
        };
        let method = NameAndType::new(text()?, text()?);
        let (length, behind) = rest.split_first_chunk()?;
        let (positions, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        rest = behind;
        Some(PackedMethod { shape, flags, method, positions })
    })
}

impl PackedMethod<'_> {
    /// Appends the method to the packed ones of an [`Entry::Class`].
    pub fn pack(&self, to: &mut Vec<u8>) {
        to.extend([self.shape.slots, self.shape.on_entry, self.flags]);
        for text in [self.method.name, self.method.descriptor] {
            // A constant of a class file is no longer than that (JVMS 4.4.7).
            to.extend((text.len() as u16).to_be_bytes());
            to.extend_from_slice(text);
        }
        to.extend((self.positions.len() as u32).to_be_bytes());
        to.extend_from_slice(self.positions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_data_reads_back() {
        let mut packed = Vec::new();
        let two = [
            PackedMethod {
                shape: Shape { slots: 3, on_entry: 7 },
                flags: 1,
                method: NameAndType::new(b"m", b"()V"),
                positions: &[],
            },
            PackedMethod {
                shape: Shape::default(),
                flags: 0,
                method: NameAndType::new(b"", b"(J)I"),
                positions: &[1, 2, 3],
            },
        ];
        two.iter().for_each(|method| method.pack(&mut packed));
        let all = [
            Entry::Text(""),
            Entry::Meta("key", "value"),
            Entry::Note("n\u{e9}"),
            Entry::NoteWithRawClasses("x"),
            Entry::MetaWithRawClasses("exact", "no"),
            Entry::RawClass("a/B"),
            Entry::Trouble("odd", "a/C"),
            Entry::IndexFile("/a b/index", b"tool=x\n"),
            Entry::Index(&[0, 255, 7]),
            Entry::IndexInJar("/c/rt.jar", b"tool=y\n"),
            Entry::Class(b"a/D", ClassHash(u64::MAX - 1), &packed),
            Entry::Foreign(Mid(0x1234_5678_9ABC_DEF0), MemberRef::new(b"F", b"f", b"()V")),
        ];
        let mut log = Vec::new();
        let places: Vec<u64> = all
            .iter()
            .map(|record| {
                let place = log.len() as u64;
                record.encode(&mut log);
                place
            })
            .collect();
        let read: Vec<_> = entries(&log).collect();
        assert_eq!(read, places.into_iter().zip(all.into_iter().map(Some)).collect::<Vec<_>>());
        assert_eq!(methods(&packed).collect::<Vec<_>>(), two);
    }

    #[test]
    fn a_log_that_stops_or_is_damaged_is_read_as_far_as_it_goes() {
        let mut log = Vec::new();
        Entry::Meta("key", "value").encode(&mut log);
        let first = log.len();
        Entry::Foreign(Mid(7), MemberRef::new(b"F", b"f", b"()V")).encode(&mut log);
        for length in 0..log.len() {
            let whole = entries(&log[..length]).filter(|(_, entry)| entry.is_some()).count();
            assert_eq!(whole, usize::from(length >= first));
            let is_cut = length != 0 && length != first;
            assert_eq!(entries(&log[..length]).any(|(_, entry)| entry.is_none()), is_cut, "{length}");
        }
        for at in 0..log.len() {
            let mut bad = log.clone();
            bad[at] ^= 0xFF;
            // Reading ends for any contents.
            assert!(entries(&bad).count() <= 2);
        }
    }
}
