//! Facts for checks across classes: whether the extended forms that classes call exist, and whether
//! nobody else counts what a caller counts.

use cct_classfile::descriptor::end_of_parameters;
use cct_classfile::{ClassFile, MemberRefBuf, NameAndType, access};
use cct_jdk::convention::EXTENSION;
use cct_pcc::MethodChoice;

use crate::finding::Finding;
use crate::probe::CalleeEntry;

/// The forms that one class offers, and those that it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    pub(crate) name: Box<[u8]>,
    pub(crate) superclass: Option<Box<[u8]>>,
    pub(crate) interfaces: Vec<Box<[u8]>>,
    pub(crate) is_final: bool,
    /// The number of its first method in a trace, if any has one, and the count of its numbered
    /// methods.
    pub(crate) numbers: (Option<u32>, u32),
    /// The methods of the class, in both forms.
    pub(crate) declared: Vec<DeclaredMethod>,
    /// References to extended forms.
    pub(crate) wanted: Vec<MemberRefBuf>,
    /// Callees that it counts.
    pub(crate) counted: Vec<CountedCallee>,
}

/// A method that a class declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredMethod {
    pub(crate) name: Box<[u8]>,
    pub(crate) descriptor: Box<[u8]>,
    pub(crate) flags: u16,
    /// Whether calls under its original signature are counted, by a body there or by one that it
    /// calls.
    pub(crate) counts_itself: bool,
    /// Whether it has no extended form or probes, and callers must count it, since it is recorded.
    pub(crate) by_callers: bool,
}

impl DeclaredMethod {
    /// Its name and descriptor.
    pub(crate) fn name_and_type(&self) -> NameAndType<'_> {
        NameAndType::new(&self.name, &self.descriptor)
    }
}

/// The probe of a caller for a callee without an instrumented body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalleeProbe {
    /// A count under an id.
    Counted(i64),
    /// A value, in an output where values represent contexts of the chosen methods.
    Entered(&'static MethodChoice, CalleeEntry),
    /// Events: one before the call, and one after it if the callee may call back.
    Traced {
        /// Whether the callee may call back.
        calls_back: bool,
    },
    /// No probe for this callee: its context is the thread's, as for any callee. The check asks
    /// whether that is enough; `Some` holds the chosen methods if values represent contexts.
    Nothing(Option<&'static MethodChoice>),
}

impl CalleeProbe {
    /// Key that distinguishes these in one class.
    pub(crate) fn key(self) -> (u8, i64, Option<CalleeEntry>) {
        match self {
            CalleeProbe::Counted(id) => (0, id, None),
            CalleeProbe::Entered(_, entered) => (1, 0, Some(entered)),
            CalleeProbe::Nothing(_) => (2, 0, None),
            CalleeProbe::Traced { calls_back } => (3, calls_back.into(), None),
        }
    }
}

/// A callee that a class counts, once for all call sites of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedCallee {
    /// The invocation.
    pub opcode: u8,
    /// The reference.
    pub callee: MemberRefBuf,
    /// The probe for it.
    pub means: CalleeProbe,
    /// Whether the probe is right for the class that the reference names, or for `Object`.
    pub is_known: bool,
    /// Number of call sites.
    pub sites: u64,
    /// The first call site.
    pub place: Finding,
}

impl CountedCallee {
    /// Whether this only asks if the callee should be counted.
    pub(crate) fn is_question(&self) -> bool {
        matches!(self.means, CalleeProbe::Nothing(_))
    }
}

impl Links {
    /// The links of a class of which only the file is known; `None` for a file that is no class.
    pub fn of(rewritten: &[u8]) -> Option<Links> {
        ClassFile::parse(rewritten).ok().map(|class| Links::known(&class, |_| false, |_| false, Vec::new()))
    }

    /// The links of a rewritten class. The two functions answer questions about the method with a
    /// number.
    pub(crate) fn known(
        class: &ClassFile<'_>,
        counts_itself: impl Fn(usize) -> bool,
        by_callers: impl Fn(usize) -> bool,
        counted: Vec<CountedCallee>,
    ) -> Links {
        let references = class.pool.indices().filter_map(|index| class.pool.member_ref(index).ok());
        let wanted = references.filter(|r| is_extended(r.descriptor));
        let declared = class.methods.iter().enumerate().map(|(number, m)| DeclaredMethod {
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
            wanted: wanted.map(MemberRefBuf::from).collect(),
            counted,
        }
    }
}

/// Whether a descriptor is that of an extended form.
pub(crate) fn is_extended(descriptor: &[u8]) -> bool {
    let close = end_of_parameters(descriptor).unwrap_or_default();
    descriptor[..close].ends_with(EXTENSION)
}
