//! Handmade jars, with all the freedom that real tools take.

use std::io::Write;

/// The form of an entry's data descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Descriptor {
    None,
    Plain,
    Signed,
    SignedZip64,
    /// Announced, but missing.
    Missing,
}

#[derive(Clone)]
pub struct Item {
    pub name: Vec<u8>,
    pub bytes: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    /// DOS date and time.
    pub stamp: u32,
    pub local_extra: Vec<u8>,
    pub central_extra: Vec<u8>,
    pub comment: Vec<u8>,
    pub attributes: u32,
    pub descriptor: Descriptor,
    /// Record sizes and offset in a zip64 field, though they would fit.
    pub zip64: bool,
    /// The directory's size, if wrong.
    pub claimed_size: Option<u32>,
    pub claimed_crc: Option<u32>,
    pub claimed_packed: Option<u32>,
}

pub fn item(name: &str, bytes: &[u8], method: u16) -> Item {
    Item {
        name: name.into(),
        bytes: bytes.into(),
        method,
        flags: 0,
        stamp: 0x5A21_6B5F,
        local_extra: vec![],
        central_extra: vec![],
        comment: vec![],
        attributes: 0,
        descriptor: Descriptor::None,
        zip64: false,
        claimed_size: None,
        claimed_crc: None,
        claimed_packed: None,
    }
}

pub fn stored(name: &str, bytes: &[u8]) -> Item {
    item(name, bytes, 0)
}

pub fn deflated(name: &str, bytes: &[u8]) -> Item {
    item(name, bytes, 8)
}

#[derive(Default)]
pub struct Archive {
    pub items: Vec<Item>,
    pub comment: Vec<u8>,
    /// Bytes before the first entry.
    pub prefix: Vec<u8>,
    /// Whether offsets count from the end of the prefix.
    pub shifted: bool,
    pub zip64_end: bool,
}

pub fn jar(items: Vec<Item>) -> Vec<u8> {
    Archive { items, ..Archive::default() }.build()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    // Level 9, so that recompression at another level would show.
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

impl Archive {
    pub fn build(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let base = if self.shifted { out.len() } else { 0 };
        let mut directory = Vec::new();
        for item in &self.items {
            let offset = (out.len() - base) as u32;
            let packed = if item.method == 8 { deflate(&item.bytes) } else { item.bytes.clone() };
            let crc = item.claimed_crc.unwrap_or(crc32fast::hash(&item.bytes));
            let size = item.claimed_size.unwrap_or(item.bytes.len() as u32);
            let packed_size = item.claimed_packed.unwrap_or(packed.len() as u32);
            let streamed = item.descriptor != Descriptor::None;
            let flags = item.flags | if streamed { 8 } else { 0 };
            let known = |value: u32| if streamed { 0 } else { value };

            let common = |out: &mut Vec<u8>, crc: u32, packed: u32, size: u32, extra: usize| {
                out.extend(20u16.to_le_bytes());
                out.extend(flags.to_le_bytes());
                out.extend(item.method.to_le_bytes());
                out.extend((item.stamp as u16).to_le_bytes());
                out.extend(((item.stamp >> 16) as u16).to_le_bytes());
                out.extend(crc.to_le_bytes());
                out.extend(packed.to_le_bytes());
                out.extend(size.to_le_bytes());
                out.extend((item.name.len() as u16).to_le_bytes());
                out.extend((extra as u16).to_le_bytes());
            };
            out.extend(b"PK\x03\x04");
            common(&mut out, known(crc), known(packed_size), known(size), item.local_extra.len());
            out.extend(&item.name);
            out.extend(&item.local_extra);
            out.extend(&packed);
            match item.descriptor {
                Descriptor::None => {}
                Descriptor::Missing => out.extend([0xEE; 16]),
                Descriptor::SignedZip64 => {
                    out.extend(b"PK\x07\x08");
                    out.extend(crc.to_le_bytes());
                    out.extend(u64::from(packed_size).to_le_bytes());
                    out.extend(u64::from(size).to_le_bytes());
                }
                Descriptor::Plain | Descriptor::Signed => {
                    if item.descriptor == Descriptor::Signed {
                        out.extend(b"PK\x07\x08");
                    }
                    for value in [crc, packed_size, size] {
                        out.extend(value.to_le_bytes());
                    }
                }
            }

            let mut extra = item.central_extra.clone();
            if item.zip64 {
                extra.extend([1, 0, 24, 0]);
                for value in [size, packed_size, offset] {
                    extra.extend(u64::from(value).to_le_bytes());
                }
            }
            let narrow = |value: u32| if item.zip64 { u32::MAX } else { value };
            directory.extend(b"PK\x01\x02\x14\x03");
            common(&mut directory, crc, narrow(packed_size), narrow(size), extra.len());
            directory.extend((item.comment.len() as u16).to_le_bytes());
            directory.extend([0, 0, 1, 0]);
            directory.extend(item.attributes.to_le_bytes());
            directory.extend(narrow(offset).to_le_bytes());
            directory.extend(&item.name);
            directory.extend(&extra);
            directory.extend(&item.comment);
        }
        let start = out.len() - base;
        out.extend(&directory);
        let count = self.items.len();
        if self.zip64_end {
            let at = out.len() - base;
            out.extend(b"PK\x06\x06");
            out.extend(44u64.to_le_bytes());
            out.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            for value in [count, count, directory.len(), start] {
                out.extend((value as u64).to_le_bytes());
            }
            out.extend(b"PK\x06\x07\0\0\0\0");
            out.extend((at as u64).to_le_bytes());
            out.extend([1, 0, 0, 0]);
        }
        out.extend(b"PK\x05\x06\0\0\0\0");
        let short = if self.zip64_end { u16::MAX } else { count as u16 };
        out.extend(short.to_le_bytes());
        out.extend(short.to_le_bytes());
        out.extend((directory.len() as u32).to_le_bytes());
        out.extend((if self.zip64_end { u32::MAX } else { start as u32 }).to_le_bytes());
        out.extend((self.comment.len() as u16).to_le_bytes());
        out.extend(&self.comment);
        out
    }
}
