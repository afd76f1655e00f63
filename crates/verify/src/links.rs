//! What no class tells by itself: whether the extended forms that classes call are there, and
//! whether what a caller counts is counted by nobody else.

use cct_classfile::descriptor::end_of_parameters;
use cct_classfile::{ClassFile, access};
use cct_jdk::convention::EXTENSION;
use cct_pcc::Chosen;

use crate::finding::Finding;
use crate::probe::Entered;

/// What one class gives to others, and wants of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    pub(crate) name: Box<[u8]>,
    pub(crate) superclass: Option<Box<[u8]>>,
    pub(crate) interfaces: Vec<Box<[u8]>>,
    pub(crate) is_final: bool,
    /// The number of its first method in a trace, if any has one, and how many it has there.
    pub(crate) numbers: (Option<u32>, u32),
    /// Its methods, in both forms.
    pub(crate) declared: Vec<Declared>,
    /// References to extended forms: owner, name and descriptor.
    pub(crate) wanted: Vec<[Box<[u8]>; 3]>,
    /// Callees that it counts.
    pub(crate) counted: Vec<Counted>,
}

/// A method of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    pub(crate) name: Box<[u8]>,
    pub(crate) descriptor: Box<[u8]>,
    pub(crate) flags: u16,
    /// Whether who calls it under its original signature has it counted: by a body that is there,
    /// or that is called from there.
    pub(crate) counts_itself: bool,
    /// Whether it has no form of ours, and callers are to count it, since it is recorded.
    pub(crate) by_callers: bool,
}

/// What a caller does for a callee that has no body of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// It is counted under an id.
    Counted(i64),
    /// Contexts are values, for which something was chosen.
    Entered(&'static Chosen, Entered),
    /// Events are recorded, one before the call, and one behind it if the callee may call back.
    Traced {
        /// Whether it may.
        calls_back: bool,
    },
    /// Nothing that would be for it: its context is the thread's, as that of any callee. Whether
    /// that is enough is the question; what was chosen, where contexts are values.
    Nothing(Option<&'static Chosen>),
}

impl Means {
    /// What tells them apart in one class.
    pub(crate) fn key(self) -> (u8, i64, Option<Entered>) {
        match self {
            Means::Counted(id) => (0, id, None),
            Means::Entered(_, entered) => (1, 0, Some(entered)),
            Means::Nothing(_) => (2, 0, None),
            Means::Traced { calls_back } => (3, calls_back.into(), None),
        }
    }
}

/// Callees that a class counts, each once for all call sites of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The invocation.
    pub opcode: u8,
    /// Owner, name and descriptor.
    pub callee: [Box<[u8]>; 3],
    /// What is done for it.
    pub means: Means,
    /// Whether that is right for the class which the reference names, or for `Object`.
    pub is_known: bool,
    /// Call sites.
    pub sites: u64,
    /// The first of them.
    pub place: Finding,
}

impl Counted {
    /// Whether it is only asked whether the callee should be counted.
    pub(crate) fn is_question(&self) -> bool {
        matches!(self.means, Means::Nothing(_))
    }
}

impl Links {
    /// Those of a class of which nothing is known but its file; `None` of what is no class.
    pub fn of(rewritten: &[u8]) -> Option<Links> {
        ClassFile::parse(rewritten).ok().map(|class| Links::known(&class, |_| false, |_| false, Vec::new()))
    }

    /// Those of a rewritten class. The two functions tell it of the method with a number.
    pub(crate) fn known(
        class: &ClassFile<'_>,
        counts_itself: impl Fn(usize) -> bool,
        by_callers: impl Fn(usize) -> bool,
        counted: Vec<Counted>,
    ) -> Links {
        let references = class.pool.indices().filter_map(|index| class.pool.member_ref(index).ok());
        let wanted = references.filter(|r| is_extended(r.descriptor));
        let declared = class.methods.iter().enumerate().map(|(number, m)| Declared {
            name: m.name.into(),
            descriptor: m.descriptor.into(),
            flags: m.access_flags,
            counts_itself: counts_itself(number),
            by_callers: by_callers(number),
        });
        Links {
            name: class.name().into(),
            superclass: class.super_name().map(Into::into),
            interfaces: class.interface_names().map(Into::into).collect(),
            is_final: class.is(access::FINAL),
            numbers: (None, class.methods.len() as u32),
            declared: declared.collect(),
            wanted: wanted.map(|r| [r.class.into(), r.name.into(), r.descriptor.into()]).collect(),
            counted,
        }
    }
}

/// Whether a descriptor is that of an extended form.
pub(crate) fn is_extended(descriptor: &[u8]) -> bool {
    let close = end_of_parameters(descriptor).unwrap_or_default();
    descriptor[..close].ends_with(EXTENSION)
}
