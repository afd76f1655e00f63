//! Methods that the user names to limit recording (docs/use/parts.md): extents, and starts, from
//! whose first entry on everything is recorded.

use cct_classfile::{MemberRef, access};
use cct_index::treatment::Treatment;

use crate::planned_treatment::{PlannedTreatment, planned};
use crate::survey::{ClassSummary, MethodSummary, trait_bits};

/// A method by its class and name, and by its descriptor if one was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodName {
    text: String,
    class: Box<[u8]>,
    name: Box<[u8]>,
    descriptor: Option<Box<[u8]>>,
}

impl MethodName {
    /// Parses `a.b.C.m` or `a/b/C.m`, with `$` for nested classes and an optional descriptor:
    /// `a.b.C.m(I)V`.
    pub fn parse(text: &str) -> Option<MethodName> {
        let (head, descriptor) = match text.find('(') {
            Some(at) => (&text[..at], Some(&text[at..])),
            None => (text, None),
        };
        let (class, name) = head.rsplit_once('.')?;
        let is_word = |word: &str| !word.is_empty() && !word.contains(|c: char| ",;[ ".contains(c));
        let is_name = is_word(name) && class.split(['.', '/']).all(is_word) && !name.contains('/');
        let encode = |text: &str| -> Box<[u8]> { cct_classfile::mutf8::encode(text).into() };
        let fits = descriptor.is_none_or(|descriptor| {
            cct_classfile::descriptor::MethodDescriptor::parse(&encode(descriptor)).is_ok()
        });
        (is_name && fits).then(|| MethodName {
            text: text.to_owned(),
            class: encode(&class.replace('.', "/")),
            name: encode(name),
            descriptor: descriptor.map(encode),
        })
    }

    /// The text that the user gave.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The internal name of its class.
    pub fn class(&self) -> &[u8] {
        &self.class
    }

    /// Whether the name matches this method.
    pub fn is(&self, method: MemberRef<'_>) -> bool {
        *self.class == *method.class
            && *self.name == *method.name
            && self.descriptor.as_deref().is_none_or(|d| d == method.descriptor)
    }
}

/// All methods that the user named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// Extents: only code that runs below them is recorded.
    pub extents: Vec<MethodName>,
    /// Starts: everything is recorded from their first entry on.
    pub starts: Vec<MethodName>,
}

impl Marks {
    /// Positions of the extents that match this method.
    pub fn extents_of(&self, method: MemberRef<'_>) -> Vec<usize> {
        places(&self.extents, method)
    }

    /// Positions of the starts that match this method.
    pub fn starts_of(&self, method: MemberRef<'_>) -> Vec<usize> {
        places(&self.starts, method)
    }

    /// The treatment of a method as far as its class decides. A method that is named as an extent
    /// and can be one takes its context from the thread and restores it on every exit. Callers by
    /// the extended signature are led to that body.
    pub(crate) fn treatment(
        &self,
        class: &ClassSummary,
        method: &MethodSummary,
        base: PlannedTreatment,
    ) -> PlannedTreatment {
        let member = class.member(method);
        let is_extent = self.extents.iter().any(|extent| extent.is(member));
        if !is_extent || refusal(method, member.name, base.treatment).is_some() {
            return base;
        }
        match base.treatment {
            // It might override a method whose extended form callers use.
            Treatment::Wrapped | Treatment::Duplicated if method.is_virtual(class) => {
                planned(Treatment::Redispatched, "an extent: recording begins and ends with its body")
            }
            Treatment::Wrapped | Treatment::Duplicated => {
                planned(Treatment::OriginalOnly, "an extent: recording begins and ends with its body")
            }
            _ => base,
        }
    }
}

fn places(names: &[MethodName], method: MemberRef<'_>) -> Vec<usize> {
    let fits = |(_, name): &(usize, &MethodName)| name.is(method);
    names.iter().enumerate().filter(fits).map(|(place, _)| place).collect()
}

/// The reason why a method cannot be an extent; `None` if it can.
pub(crate) fn refusal(method: &MethodSummary, name: &[u8], base: Treatment) -> Option<&'static str> {
    if method.is(access::NATIVE) {
        return Some("it is native; name the method that calls it");
    }
    if method.is(access::ABSTRACT) {
        return Some("it has no body; name it in a class that implements it");
    }
    if name == b"<init>" {
        return Some(
            "it is a constructor, which cannot end a recording if its super(..) throws; name the \
             method that calls it",
        );
    }
    match base {
        Treatment::Wrapped | Treatment::Redispatched | Treatment::OriginalOnly => None,
        Treatment::Duplicated if !method.has(trait_bits::CALLER_SENSITIVE) => None,
        _ => Some("the JVM requires its frame to be unchanged; name the method that calls it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_with_dots_or_slashes() {
        let is = |text: &str, descriptor: &[u8]| {
            MethodName::parse(text).is_some_and(|m| m.is(MemberRef::new(b"a/b/C$D", b"m", descriptor)))
        };
        for text in ["a.b.C$D.m", "a/b/C$D.m"] {
            assert!(is(text, b"()V") && is(text, b"(I)V"), "{text}");
        }
        assert!(is("a.b.C$D.m(I)V", b"(I)V") && !is("a.b.C$D.m(I)V", b"()V"));
        assert!(MethodName::parse("C.<clinit>").is_some());
        for text in ["", "m", ".m", "C.", "a..C.m", "a.b.C/m", "C.m(", "C.m(X)V", "C.m,D", "C.m n"] {
            assert_eq!(MethodName::parse(text), None, "{text}");
        }
    }
}
