//! The attribute `cctrewrite.Markers`, in which a marked class lists its markers
//! (docs/research/markers.md).

use cct_classfile::{Attribute, Bci, ClassFile, Member, NameAndType};

/// Name of the attribute.
pub const NAME: &[u8] = b"cctrewrite.Markers";

/// The supported version.
const VERSION: [u8; 2] = [0, 1];

/// A marker, as its class describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor<'a> {
    /// The whole description, as the runtime gets it.
    pub text: &'a [u8],
    /// Whether there is an exit.
    pub is_pair: bool,
    /// Whether single objects can be ignored.
    pub per_object: bool,
    /// Whether entry and exit are reported at once.
    pub is_instant: bool,
    /// The kind of location.
    pub place: &'a [u8],
    /// The method.
    pub method: NameAndType<'a>,
    /// Bytecode index in the original.
    pub bci: Bci,
    /// The line of that index, if known.
    pub line: Option<u16>,
    /// The callee, field or type.
    pub detail: &'a [u8],
}

impl<'a> Descriptor<'a> {
    fn of(text: &'a [u8]) -> Option<Self> {
        let fields: Vec<&[u8]> = text.split(|&byte| byte == 1).collect();
        let [_, _, flags, place, name, descriptor, bci, line, detail] = fields[..] else { return None };
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u32>().ok();
        let has = |letter| flags.contains(&letter);
        let spelled: Vec<u8> = [b'p', b'o', b'i'].into_iter().filter(|letter| has(*letter)).collect();
        let line = match line {
            b"-1" => None,
            line => Some(u16::try_from(number(line)?).ok()?),
        };
        (spelled == flags).then_some(Descriptor {
            text,
            is_pair: has(b'p'),
            per_object: has(b'o'),
            is_instant: has(b'i'),
            place,
            method: NameAndType::new(name, descriptor),
            bci: number(bci)?,
            line,
            detail,
        })
    }

    /// Whether it is a region whose end has a report of its own.
    pub fn has_token(&self) -> bool {
        self.is_pair && !self.is_instant
    }

    /// Whether its location is a loop, which control may reach again from within.
    pub fn is_loop(&self) -> bool {
        self.is_pair && self.place == b"loop"
    }
}

/// The markers of a class, by number; `None` if the attribute cannot be read.
pub fn read<'a>(attribute: &Attribute<'a>) -> Option<Vec<Descriptor<'a>>> {
    let rest = attribute.data.strip_prefix(&VERSION)?;
    let (count, mut rest) = rest.split_first_chunk::<2>()?;
    let mut descriptors = Vec::new();
    for _ in 0..u16::from_be_bytes(*count) {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        let (text, behind) = behind.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        descriptors.push(Descriptor::of(text)?);
        rest = behind;
    }
    rest.is_empty().then_some(descriptors)
}

/// Whether the initial value of a field of markers has all bits on.
pub(crate) fn is_on(class: &ClassFile<'_>, field: &Member<'_>) -> bool {
    let attributes: Vec<_> = field.attributes.iter().collect();
    let [value] = attributes[..] else { return false };
    let index = <[u8; 2]>::try_from(value.data).ok().map(u16::from_be_bytes);
    value.name == b"ConstantValue" && index.and_then(|i| class.pool.integer(i).ok()) == Some(-1)
}

/// Whether an attribute is the list of a class's markers.
pub(crate) fn is_list(attribute: &cct_classfile::Attribute<'_>) -> bool {
    attribute.name == NAME
}
