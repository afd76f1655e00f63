//! The attribute of every rewritten class (docs/reference/formats/index.md): the identity of its
//! original, and the treatments of its methods.

use cct_classfile::bytes::PutBytes;
use cct_classfile::{ClassFile, Error, ErrorKind, Result};

use crate::mid::{ClassHash, Shape};
use crate::positions::PackedPositions;
use crate::treatment::Treatment;

/// Name of the class attribute.
pub const ATTRIBUTE: &[u8] = b"cctrewrite";

/// Version of the attribute's format.
pub const VERSION: u16 = 4;

/// Length in bytes of the part before the methods, and of each method.
const HEAD: usize = 20;
const ROW: usize = 4;

/// The attribute `cctrewrite`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassAttribute {
    /// Hash of the original class file.
    pub hash: ClassHash,
    /// Hash of the provenance lines of the output that the class belongs to.
    pub provenance: u64,
    /// The original methods, which precede the added ones.
    pub methods: Vec<MethodRow>,
}

/// The attribute's row of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRow {
    /// The part of its id besides the hash.
    pub shape: Shape,
    /// Flags of [`crate::method_flags`].
    pub flags: u8,
    /// Treatment of the method.
    pub treatment: Treatment,
    /// The original positions of its bytecodes, if call sites are kept separate.
    pub positions: PackedPositions,
}

impl ClassAttribute {
    /// The attribute of a class, if it has one.
    ///
    /// # Errors
    /// If the attribute does not fit the class: another version of this program wrote it, or a
    /// library has copied parts of a rewritten class file.
    pub fn of(class: &ClassFile<'_>) -> Result<Option<Self>> {
        let Some(attribute) = class.attributes.find(ATTRIBUTE) else { return Ok(None) };
        let parsed = Self::parse(attribute.data).filter(|a| a.methods.len() <= class.methods.len());
        let error = || {
            Error::new(ErrorKind::Malformed(
                "its attribute `cctrewrite` is of another class or version of cctrewrite: it was \
                 made from a rewritten class file; make it from the original",
            ))
        };
        parsed.map(Some).ok_or_else(|| class.locate(error()))
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let u2 = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        let u8 = |at: usize| head[at..at + 8].iter().fold(0, |value, &b| value << 8 | u64::from(b));
        let (rows, mut positions) = rest.split_at_checked(ROW * usize::from(u2(18)))?;
        if u2(0) != VERSION {
            return None;
        }
        let has_positions = !positions.is_empty();
        let methods = rows.chunks_exact(ROW).map(|row| {
            let shape = Shape::checked(row[0], row[1])?;
            let mut packed = PackedPositions::default();
            if has_positions {
                let (length, behind) = positions.split_first_chunk()?;
                let (these, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
                (packed, positions) = (these.into(), behind);
            }
            Some(MethodRow {
                shape,
                flags: row[2],
                treatment: Treatment::of_code(row[3])?,
                positions: packed,
            })
        });
        let methods = methods.collect::<Option<_>>()?;
        if !positions.is_empty() {
            return None;
        }
        Some(ClassAttribute { hash: ClassHash(u8(2)), provenance: u8(10), methods })
    }

    /// The content of the attribute.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD + ROW * self.methods.len());
        out.put2(VERSION);
        out.put8(self.hash.0);
        out.put8(self.provenance);
        out.put2(self.methods.len() as u16);
        for m in &self.methods {
            out.extend_from_slice(&[m.shape.slots, m.shape.on_entry, m.flags, m.treatment.code()]);
        }
        if self.methods.iter().any(|m| !m.positions.is_empty()) {
            for m in &self.methods {
                out.put4(m.positions.len() as u32);
                out.extend_from_slice(&m.positions);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mid::MAX_SLOTS;

    #[test]
    fn written_data_reads_back() {
        let methods = Treatment::ALL
            .map(|treatment| MethodRow {
                shape: Shape { slots: 64, on_entry: 31 },
                flags: treatment.code(),
                treatment,
                positions: vec![1; usize::from(treatment.code())].into(),
            })
            .to_vec();
        let attribute =
            ClassAttribute { hash: ClassHash(u64::MAX - 1), provenance: 0x0123_4567_89AB_CDEF, methods };
        assert_eq!(ClassAttribute::parse(&attribute.bytes()), Some(attribute));
    }

    #[test]
    fn other_versions_lengths_and_treatments_are_refused() {
        let methods = vec![MethodRow {
            shape: Shape::of_slots(1),
            flags: 0,
            treatment: Treatment::Wrapped,
            positions: PackedPositions::default(),
        }];
        let good = ClassAttribute { hash: ClassHash(1), provenance: 2, methods }.bytes();
        let changes: [fn(&mut Vec<u8>); 7] = [
            |b| b[1] = 1,
            |b| b[19] = 2,
            |b| b[20] = MAX_SLOTS as u8 + 1,
            |b| b[21] = 32,
            |b| b[23] = Treatment::ALL.len() as u8,
            |b| b.truncate(19),
            |b| b.push(0),
        ];
        for change in changes {
            let mut bad = good.clone();
            change(&mut bad);
            assert_eq!(ClassAttribute::parse(&bad), None, "{bad:?}");
        }
    }
}
