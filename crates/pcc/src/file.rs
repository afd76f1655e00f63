//! The file that a JVM writes (docs/reference/formats/pcc.md): places, and how often each was
//! entered with which value.

use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use crate::value::Value;

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"CCTVALUE";

/// Version of the format.
pub const VERSION: u16 = 1;

/// Size of the part before the content, in bytes.
const HEAD: usize = 20;

/// Size of the checksum after the content, in bytes.
const CHECKSUM: usize = 8;

/// A method at whose entry values were recorded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The method's class, with slashes; `?` if unknown.
    pub class: String,
    /// The method's name; if unknown, its id in hexadecimal digits.
    pub name: String,
    /// The method's descriptor.
    pub descriptor: String,
}

/// Recorded values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedValues {
    /// How they were recorded, as in profiles; and `pcc-at` and `pcc-only`, the choice of methods.
    pub meta: BTreeMap<String, String>,
    /// Notes for readers, in sentences, sorted.
    pub notes: Vec<String>,
    /// Number of entries of each place with each value.
    pub counts: BTreeMap<Place, BTreeMap<Value, u64>>,
    /// Number of entries with values for which there was no room.
    pub lost: u64,
}

/// Why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It does not start with the magic number.
    #[error(
        "not a file of calling-context values (its first bytes are not CCTVALUE); JDKs made with \
         --tool pcc write them"
    )]
    NoValues,
    /// A later version.
    #[error(
        "format version {0}, which this version of cctrewrite does not know; read it with the \
         version that made it"
    )]
    Version(u16),
    /// Truncated, or changed.
    #[error("damaged: {0}")]
    Damaged(&'static str),
}

impl RecordedValues {
    /// Adds entries of a place.
    pub fn add(&mut self, place: Place, value: Value, count: u64) {
        let sum = self.counts.entry(place).or_default().entry(value).or_default();
        *sum = sum.saturating_add(count);
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut content = Vec::new();
        put_text(
            &mut content,
            &lines(self.meta.iter().map(|(key, value)| format!("{key}={}", escaped(value)))),
        );
        put_text(&mut content, &lines(self.notes.iter().map(|note| escaped(note))));
        content.extend(self.lost.to_le_bytes());
        content.extend((self.counts.len() as u64).to_le_bytes());
        for (place, values) in &self.counts {
            for text in [&place.class, &place.name, &place.descriptor] {
                put_text(&mut content, text);
            }
            content.extend((values.len() as u64).to_le_bytes());
            for (value, count) in values {
                content.extend(value.0.to_le_bytes());
                content.extend(count.to_le_bytes());
            }
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(0u16.to_le_bytes());
        bytes.extend((content.len() as u64).to_le_bytes());
        bytes.extend(content);
        bytes.extend(xxh3_64(&bytes).to_le_bytes());
        bytes
    }

    /// Reads a file, which must be complete.
    pub fn of_bytes(bytes: &[u8]) -> Result<RecordedValues, ReadError> {
        if !bytes.starts_with(&MAGIC) {
            return Err(ReadError::NoValues);
        }
        let cut = ReadError::Damaged("it is cut off");
        let version = bytes.get(8..10).ok_or(cut.clone())?;
        let version = u16::from_le_bytes([version[0], version[1]]);
        if version != VERSION {
            return Err(ReadError::Version(version));
        }
        let length = Reader(bytes.get(12..).ok_or(cut.clone())?).number()?;
        let whole = usize::try_from(length).ok().and_then(|length| length.checked_add(HEAD + CHECKSUM));
        match whole {
            Some(whole) if bytes.len() == whole => {}
            Some(whole) if bytes.len() > whole => {
                return Err(ReadError::Damaged("bytes follow its end"));
            }
            _ => return Err(cut),
        }
        let (summed, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        if Reader(checksum).number()? != xxh3_64(summed) {
            return Err(ReadError::Damaged("its checksum is wrong"));
        }
        RecordedValues::of_content(&mut Reader(&summed[HEAD..]))
    }

    fn of_content(reader: &mut Reader<'_>) -> Result<RecordedValues, ReadError> {
        let mut recorded = RecordedValues::default();
        for line in reader.text()?.lines() {
            let (key, value) = line.split_once('=').ok_or(ReadError::Damaged("a line without a key"))?;
            recorded.meta.insert(key.to_owned(), unescaped(value));
        }
        recorded.notes = reader.text()?.lines().map(unescaped).collect();
        recorded.lost = reader.number()?;
        for _ in 0..reader.number()? {
            let [class, name, descriptor] = [reader.text()?, reader.text()?, reader.text()?];
            let place =
                Place { class: class.to_owned(), name: name.to_owned(), descriptor: descriptor.to_owned() };
            let mut values = BTreeMap::new();
            for _ in 0..reader.number()? {
                let (value, count) = (Value(reader.number()?), reader.number()?);
                if values.insert(value, count).is_some() {
                    return Err(ReadError::Damaged("a value is there twice"));
                }
            }
            if recorded.counts.insert(place, values).is_some() {
                return Err(ReadError::Damaged("a place is there twice"));
            }
        }
        match reader.0 {
            [] => Ok(recorded),
            _ => Err(ReadError::Damaged("more than it says")),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(ReadError::Damaged("less than it says"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u64, ReadError> {
        let bytes = self.take(8)?;
        Ok(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    fn text(&mut self) -> Result<&'a str, ReadError> {
        let bytes = self.take(4)?;
        let length = bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
        std::str::from_utf8(self.take(length)?).map_err(|_| ReadError::Damaged("a text that is none"))
    }
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text.as_bytes());
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}

/// The text, escaped into one line.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r")
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> RecordedValues {
        let mut recorded =
            RecordedValues { lost: 5, notes: vec!["a\\n note".to_owned()], ..RecordedValues::default() };
        recorded.meta.insert("provenance".to_owned(), "a=1 b\\\nc=2\r".to_owned());
        let place = |name: &str| Place {
            class: "a/B".to_owned(),
            name: name.to_owned(),
            descriptor: "()V".to_owned(),
        };
        recorded.add(place("m"), Value(3), 2);
        recorded.add(place("m"), Value(1), u64::MAX);
        recorded.add(place("\u{e9}"), Value(1), 1);
        recorded
    }

    #[test]
    fn written_data_reads_back() {
        for recorded in [RecordedValues::default(), sample()] {
            assert_eq!(RecordedValues::of_bytes(&recorded.bytes()), Ok(recorded));
        }
    }

    #[test]
    fn counts_are_added_up_and_stay_at_the_most() {
        let mut recorded = sample();
        let place = recorded.counts.keys().next().unwrap().clone();
        recorded.add(place.clone(), Value(1), 7);
        recorded.add(place.clone(), Value(3), 7);
        assert_eq!(recorded.counts[&place], BTreeMap::from([(Value(1), u64::MAX), (Value(3), 9)]));
    }

    #[test]
    fn changed_and_truncated_files_are_refused() {
        let bytes = sample().bytes();
        for length in 0..bytes.len() {
            assert!(RecordedValues::of_bytes(&bytes[..length]).is_err(), "{length}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut other = bytes.clone();
                other[at] ^= 1 << bit;
                assert!(RecordedValues::of_bytes(&other).is_err(), "{at}");
            }
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(RecordedValues::of_bytes(&longer), Err(ReadError::Damaged("bytes follow its end")));
    }

    /// A checksum does not protect against someone who computes it.
    #[test]
    fn no_content_makes_it_panic() {
        arbtest::arbtest(|u| {
            let content: Vec<u8> = u.arbitrary()?;
            let _ = RecordedValues::of_content(&mut Reader(&content));
            Ok(())
        });
    }
}
