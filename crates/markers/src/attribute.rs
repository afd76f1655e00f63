//! The class attribute `cctrewrite.Markers` (docs/research/markers.md): the descriptors of the
//! class's markers. The runtime gets the same texts.

use cct_classfile::bytes::{Cursor, PutBytes};
use cct_classfile::{ClassFile, NameAndType, mutf8};

/// Name of the attribute.
pub const NAME: &[u8] = b"cctrewrite.Markers";

const VERSION: u16 = 1;

/// Separator of the fields in a descriptor's text.
const BETWEEN: u8 = 1;

/// The descriptor of a marker (MTF 3.2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// Name to which clients subscribe.
    pub token: String,
    /// Text for clients.
    pub predicate: String,
    /// Whether there is an exit.
    pub pair: bool,
    /// Whether clients can ignore single objects.
    pub per_object: bool,
    /// For a pair: whether entry and exit are reported at once, since nothing observable happens
    /// between them.
    pub instant: bool,
    /// The kind of location.
    pub place: String,
    /// The method's name.
    pub method: Box<[u8]>,
    /// The method's descriptor.
    pub descriptor: Box<[u8]>,
    /// The bytecode index in the original method.
    pub bci: u32,
    /// The line, if known.
    pub line: Option<u16>,
    /// The callee, field or type.
    pub detail: Box<[u8]>,
}

impl Descriptor {
    /// The method's name and descriptor.
    pub fn name_and_type(&self) -> NameAndType<'_> {
        NameAndType::new(&self.method, &self.descriptor)
    }

    /// The text of the descriptor, in modified UTF-8.
    pub(crate) fn text(&self) -> Vec<u8> {
        let flag = |letter: &'static [u8], is_set| &letter[..usize::from(is_set)];
        let flags = [flag(b"p", self.pair), flag(b"o", self.per_object), flag(b"i", self.instant)].concat();
        let line = self.line.map_or(-1, i32::from);
        [
            &mutf8::encode(&self.token)[..],
            &mutf8::encode(&self.predicate),
            &flags,
            self.place.as_bytes(),
            &self.method,
            &self.descriptor,
            self.bci.to_string().as_bytes(),
            line.to_string().as_bytes(),
            &self.detail,
        ]
        .join(&BETWEEN)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = text.split(|&b| b == BETWEEN).collect();
        let [token, predicate, flags, place, method, descriptor, bci, line, detail] = fields[..] else {
            return None;
        };
        let string = |bytes: &[u8]| mutf8::lossy(bytes);
        let line: i32 = string(line).parse().ok()?;
        Some(Descriptor {
            token: string(token),
            predicate: string(predicate),
            pair: flags.contains(&b'p'),
            per_object: flags.contains(&b'o'),
            instant: flags.contains(&b'i'),
            place: string(place),
            method: method.into(),
            descriptor: descriptor.into(),
            bci: string(bci).parse().ok()?,
            line: u16::try_from(line).ok(),
            detail: detail.into(),
        })
    }
}

/// The attribute's content.
pub(crate) fn write(descriptors: &[Descriptor]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put2(VERSION);
    out.put2(descriptors.len() as u16);
    for text in descriptors.iter().map(Descriptor::text) {
        out.put2(text.len() as u16);
        out.extend_from_slice(&text);
    }
    out
}

/// The markers of a class by number; `None` if the class has no such attribute, or one of another
/// version.
pub fn read(class: &ClassFile<'_>) -> Option<Vec<Descriptor>> {
    let attribute = class.attributes.find(NAME)?;
    let mut cursor: Cursor<'_> = attribute.cursor();
    if cursor.u2().ok()? != VERSION {
        return None;
    }
    let count = cursor.u2().ok()?;
    let mut descriptors = Vec::new();
    for _ in 0..count {
        let length = cursor.u2().ok()?;
        descriptors.push(Descriptor::parse(cursor.take(usize::from(length)).ok()?)?);
    }
    cursor.is_empty().then_some(descriptors)
}
