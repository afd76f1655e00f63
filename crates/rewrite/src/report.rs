//! The completeness report of a class: the treatments of its methods, and everything that was
//! omitted.

use std::collections::BTreeMap;

use cct_classfile::Member;
use cct_index::mid::Mid;
use cct_index::treatment::Treatment;

use cct_classfile::mutf8::lossy;

/// The reduced instrumentation of a body that would otherwise exceed 64 KB, or whose jumps would
/// exceed their range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// Counted by default blocks instead of exact or precise ones.
    DefaultBlocks,
    /// Calls are counted, bytecodes are not.
    CallsOnly,
    /// Calls are counted; bytecodes, allocated objects and columns are not.
    CallsWithoutObjects,
    /// Not instrumented: it is missing from the tree, and its callees appear under its caller.
    NotInstrumented,
}

impl Fallback {
    /// Describes the fallback for people.
    pub fn describe(self) -> &'static str {
        match self {
            Fallback::DefaultBlocks => "too large for this rule of blocks: counted by default blocks",
            Fallback::CallsOnly => {
                "too large for bytecode counting: its calls are counted, its bytecodes are not"
            }
            Fallback::CallsWithoutObjects => {
                "too large for counting objects and columns: its calls are counted; its bytecodes, the objects that it makes and its columns are not"
            }
            Fallback::NotInstrumented => {
                "too large to instrument: missing from the tree, its callees are below its caller"
            }
        }
    }
}

/// A method whose treatment is not the ordinary one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodReport {
    /// Name.
    pub name: String,
    /// Descriptor.
    pub descriptor: String,
    /// Treatment.
    pub treatment: Treatment,
    /// Reason of the treatment.
    pub reason: String,
}

/// A class's part of the completeness report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassReport {
    /// Internal name.
    pub class: String,
    /// Size in bytes before rewriting.
    pub bytes_before: usize,
    /// Size in bytes after rewriting; the same for a class that stays unchanged.
    pub bytes_after: usize,
    /// Methods by treatment.
    pub counts: BTreeMap<Treatment, u32>,
    /// Methods that are not recorded because the user excluded their class.
    pub excluded: u32,
    /// Methods whose treatment is not the ordinary one, in class-file order.
    pub methods: Vec<MethodReport>,
    /// Extended forms added to settle conflicts of inheritance.
    pub tie_breaks: u32,
    /// Call sites whose callee's class was in no input and no library. Natives called there are not
    /// counted.
    pub unknown_owner_sites: u32,
    /// Omitted attributes of code: unknown ones that may hold bytecode indices.
    pub dropped: Vec<String>,
    /// Calls whose results were replaced by constants.
    pub pinned: u32,
    /// Pins without effect: the call was not found, or its method stayed unchanged. The text names
    /// the method and the clock that it asks.
    pub unpinned: Vec<String>,
    /// Methods with reduced instrumentation.
    pub fallbacks: Vec<(String, Fallback)>,
    /// Extents that were found: the position of each, and the id of its node, if it has one.
    pub extents: Vec<(usize, Option<Mid>)>,
    /// Positions of the starts that were found.
    pub starts: Vec<usize>,
    /// Methods that the user named as an extent, by its position, and that cannot be one: the
    /// method and the reason.
    pub refused_extents: Vec<(usize, String, &'static str)>,
}

impl ClassReport {
    pub(crate) fn new(class: &[u8], bytes: usize) -> Self {
        ClassReport { class: lossy(class), bytes_before: bytes, bytes_after: bytes, ..ClassReport::default() }
    }

    pub(crate) fn untouched(class: &[u8]) -> Self {
        ClassReport { class: lossy(class), ..ClassReport::default() }
    }

    pub(crate) fn method(
        &mut self,
        member: &Member<'_>,
        treatment: Treatment,
        reason: &'static str,
        recorded: bool,
        fallback: Option<Fallback>,
    ) {
        *self.counts.entry(treatment).or_default() += 1;
        self.excluded += u32::from(!recorded);
        let reason = fallback.map_or(reason, Fallback::describe);
        if let Some(f) = fallback {
            self.fallbacks.push((member.name_and_type().to_string(), f));
        }
        if !reason.is_empty() {
            self.methods.push(MethodReport {
                name: lossy(member.name),
                descriptor: lossy(member.descriptor),
                treatment,
                reason: reason.to_owned(),
            });
        }
    }

    pub(crate) fn dropped_attributes(&mut self, names: &[String]) {
        for name in names {
            if !self.dropped.contains(name) {
                self.dropped.push(name.clone());
            }
        }
    }
}
