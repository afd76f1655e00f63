//! Comparison of two readings of a class file: their first difference.

use std::collections::BTreeMap;

use cct_classfile::{Bci, NameAndType, NameAndTypeBuf, mutf8};

use super::model::{Attribute, Code, Content, Member, Operation};
use super::reading::{ClassView, Unread};

/// A part that two readers read differently.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum Part {
    #[error("the version")]
    Version,
    #[error("the access flags")]
    Flags,
    #[error("the name of the class")]
    Name,
    #[error("the superclass")]
    Superclass,
    #[error("the interfaces")]
    Interfaces,
    #[error("the number of constants")]
    Constants,
    #[error("constant {0}, CONSTANT_Utf8 not counted")]
    Constant(usize),
    #[error("the number of fields")]
    Fields,
    #[error("the number of methods")]
    Methods,
    #[error("the name or the descriptor")]
    Descriptor,
    #[error("the names of the attributes")]
    AttributeNames,
    #[error("the attribute {0}")]
    Attribute(String),
    #[error("whether there is code")]
    Code,
    #[error("max_stack or max_locals")]
    Limits,
    #[error("the bytes of the code")]
    Bytes,
    #[error("where an instruction begins")]
    Boundary,
    #[error("the operands of the instruction")]
    Operand,
    #[error("the exception table")]
    Handlers,
    #[error("the frames")]
    Frames,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The member, if the difference is in one.
    pub member: Option<NameAndTypeBuf>,
    /// The bytecode index.
    pub bci: Option<Bci>,
    /// The part that differs.
    pub part: Part,
}

impl Difference {
    fn of(part: Part) -> Self {
        Difference { member: None, bci: None, part }
    }

    fn at(part: Part, bci: Bci) -> Self {
        Difference { member: None, bci: Some(bci), part }
    }

    fn in_member(self, member: &Member<'_>) -> Self {
        let member = NameAndType::new(&member.name, &member.descriptor);
        Difference { member: Some(member.into()), ..self }
    }
}

/// The results of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReaderComparison {
    /// The first difference.
    pub difference: Option<Difference>,
    /// Attributes of which cafebabe knows only names and bytes, by name; the numbers are of all
    /// comparisons.
    pub unknown: BTreeMap<String, u64>,
}

/// Compares two readings of one file.
///
/// # Errors
/// If a part of the class cannot be read.
pub fn compare<'a, 'b>(
    own: &dyn ClassView<'a>,
    other: &dyn ClassView<'b>,
) -> Result<ReaderComparison, Unread> {
    let mut compared = ReaderComparison::default();
    compared.difference = compared.classes(own, other)?;
    Ok(compared)
}

impl ReaderComparison {
    fn classes<'a, 'b>(
        &mut self,
        own: &dyn ClassView<'a>,
        other: &dyn ClassView<'b>,
    ) -> Result<Option<Difference>, Unread> {
        let (a, b) = (own.class()?, other.class()?);
        let heads = [
            (a.version == b.version, Part::Version),
            (a.flags == b.flags, Part::Flags),
            (a.name == b.name, Part::Name),
            (a.superclass == b.superclass, Part::Superclass),
            (a.interfaces == b.interfaces, Part::Interfaces),
            (a.constants.len() == b.constants.len(), Part::Constants),
            (a.fields.len() == b.fields.len(), Part::Fields),
            (a.methods.len() == b.methods.len(), Part::Methods),
        ];
        if let Some((_, part)) = heads.into_iter().find(|(is_equal, _)| !is_equal) {
            return Ok(Some(Difference::of(part)));
        }
        if let Some(at) = a.constants.iter().zip(&b.constants).position(|(a, b)| a != b) {
            return Ok(Some(Difference::of(Part::Constant(at + 1))));
        }
        if let Some(part) = self.attributes(&a.attributes, &b.attributes) {
            return Ok(Some(Difference::of(part)));
        }
        for (a, b) in a.fields.iter().zip(&b.fields).chain(a.methods.iter().zip(&b.methods)) {
            if let Some(part) = self.members(a, b) {
                return Ok(Some(Difference::of(part).in_member(a)));
            }
        }
        for (number, method) in a.methods.iter().enumerate() {
            let difference = match (own.code(number)?, other.code(number)?) {
                (None, None) => None,
                (Some(a), Some(b)) => self.codes(&a, &b),
                _ => Some(Difference::of(Part::Code)),
            };
            if let Some(difference) = difference {
                return Ok(Some(difference.in_member(method)));
            }
        }
        Ok(None)
    }

    fn members(&mut self, a: &Member<'_>, b: &Member<'_>) -> Option<Part> {
        if (&a.name, &a.descriptor) != (&b.name, &b.descriptor) {
            return Some(Part::Descriptor);
        }
        if a.flags != b.flags {
            return Some(Part::Flags);
        }
        self.attributes(&a.attributes, &b.attributes)
    }

    fn attributes(&mut self, a: &[Attribute<'_>], b: &[Attribute<'_>]) -> Option<Part> {
        if !a.iter().map(|a| &a.name).eq(b.iter().map(|b| &b.name)) {
            return Some(Part::AttributeNames);
        }
        for (a, b) in a.iter().zip(b) {
            if a.content != b.content {
                return Some(Part::Attribute(mutf8::lossy(&a.name)));
            }
            self.note_unknown(b);
        }
        None
    }

    fn note_unknown(&mut self, attribute: &Attribute<'_>) {
        match &attribute.content {
            Content::Bytes(_) => *self.unknown.entry(mutf8::lossy(&attribute.name)).or_default() += 1,
            Content::Components(components) => {
                components.iter().flat_map(|(_, _, list)| list).for_each(|within| self.note_unknown(within));
            }
            _ => {}
        }
    }

    fn codes(&mut self, a: &Code<'_>, b: &Code<'_>) -> Option<Difference> {
        if a.limits != b.limits {
            return Some(Difference::of(Part::Limits));
        }
        if a.bytes != b.bytes {
            return Some(Difference::of(Part::Bytes));
        }
        if let Some(difference) = operations(&a.operations, &b.operations) {
            return Some(difference);
        }
        if a.handlers != b.handlers {
            return Some(Difference::of(Part::Handlers));
        }
        if let Some((a, b)) = a.frames.iter().zip(&b.frames).find(|(a, b)| a != b) {
            return Some(Difference::at(Part::Frames, a.bci.min(b.bci)));
        }
        if a.frames.len() != b.frames.len() {
            return Some(Difference::of(Part::Frames));
        }
        self.attributes(&a.attributes, &b.attributes).map(Difference::of)
    }
}

fn operations(a: &[Operation<'_>], b: &[Operation<'_>]) -> Option<Difference> {
    if let Some((a, b)) = a.iter().zip(b).find(|(a, b)| a != b) {
        let is_one = (a.bci, a.opcode) == (b.bci, b.opcode);
        return Some(Difference::at(if is_one { Part::Operand } else { Part::Boundary }, a.bci.min(b.bci)));
    }
    let longer = if a.len() > b.len() { a } else { b };
    let more = longer.get(a.len().min(b.len()))?;
    Some(Difference::at(Part::Boundary, more.bci))
}
