//! The state of rewriting one class.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use cct_classfile::edit::ClassEdit;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::opcode::Opcode;
use cct_classfile::{ClassFile, Code, Member};
use cct_events as events;
use cct_flow::OwnMembers;
use cct_index::mid::{Mid, Shape};
use cct_index::record::{ForeignRecord, MethodRecord};
use cct_index::treatment::Treatment;
use cct_jdk::pins::Clock;
use cct_markers::{ClassMarkers, LeftOut};
use cct_tables::BlockRule;

use super::shared::Rewriter;
use crate::carrier::Constants;
use crate::error::Result;
use crate::markers::{self};
use crate::plan::{self, CallTarget};
use crate::report::ClassReport;
use crate::world::ClassId;

/// The state of rewriting one class.
pub(super) struct ClassRewriter<'r: 'c, 'c, 'a> {
    pub(super) rewriter: &'r Rewriter,
    pub(super) class: &'c ClassFile<'a>,
    /// The decoded code of its methods, if it has been decoded before.
    pub(super) decoded: &'c [Option<Code<'a>>],
    pub(super) id: ClassId,
    pub(super) edit: ClassEdit<'c, 'a>,
    pub(super) constants: Constants,
    pub(super) recorded: bool,
    /// For each constant, the target of the last invocation by it, and the invocation's opcode.
    pub(super) targets: Vec<Option<(Opcode, CallTarget<'c>)>>,
    /// References to its own members; filled only for exact bytecode counts.
    pub(super) own: Rc<OwnMembers>,
    pub(super) report: ClassReport,
    pub(super) methods: Vec<MethodRecord>,
    /// The static side of its methods in a trace, if events are recorded.
    pub(super) traced: Vec<events::Method>,
    pub(super) foreign: BTreeMap<Mid, ForeignRecord>,
    /// The pinned clocks, by the names of the methods that ask them.
    pub(super) pinned: BTreeSet<(&'c [u8], Clock)>,
    /// The markers of the class, if it may have some.
    pub(super) beside: Option<ClassMarkers<'r, 'c, 'a>>,
}

impl<'r, 'c, 'a> ClassRewriter<'r, 'c, 'a> {
    /// The state for a class that is written without the markers in `left_out`.
    pub(super) fn new(
        rewriter: &'r Rewriter,
        class: &'c ClassFile<'a>,
        decoded: &'c [Option<Code<'a>>],
        id: ClassId,
        left_out: &LeftOut,
    ) -> Result<Self> {
        let (mut edit, mut constants) = (ClassEdit::new(class), Constants::default());
        let planned = rewriter.plan.of_class(id);
        let marked = |markers| markers::of_class(markers, &mut edit, &mut constants, planned, left_out);
        let beside = rewriter.markers.as_deref().map(marked).transpose()?;
        Ok(ClassRewriter {
            rewriter,
            class,
            decoded,
            id,
            edit,
            constants,
            recorded: (rewriter.recorded)(class.name()),
            targets: Vec::new(),
            own: Rc::new(match rewriter.settings.block_rule() {
                Some(BlockRule::Exact) => OwnMembers::of(class),
                _ if rewriter.settings.traces() => OwnMembers::of(class),
                _ => OwnMembers::default(),
            }),
            report: ClassReport::new(class.name(), class.bytes.len()),
            methods: Vec::with_capacity(class.methods.len()),
            traced: Vec::new(),
            foreign: BTreeMap::new(),
            pinned: BTreeSet::new(),
            beside,
        })
    }

    /// The code of the method at this position.
    pub(super) fn code(
        &self,
        index: usize,
        member: &Member<'a>,
    ) -> cct_classfile::Result<Option<Cow<'c, Code<'a>>>> {
        match self.decoded.get(index) {
            Some(code) => Ok(code.as_ref().map(Cow::Borrowed)),
            None => Ok(Code::of(self.class, member)?.map(Cow::Owned)),
        }
    }

    /// The number of a method in traces, if the run records one.
    pub(super) fn number(&self, index: usize) -> Option<u32> {
        let first = self.rewriter.numbers(self.id).first_method;
        self.rewriter.settings.traces().then_some(first + index as u32)
    }

    /// The id of a method for other classes: a native that its callers count has a different one.
    pub(super) fn id_of(&self, index: usize, shape: Shape) -> u64 {
        let summary = &self.rewriter.world[self.id].summary;
        let planned = self.rewriter.plan.of_class(self.id).get(index).map(|planned| planned.treatment);
        match plan::counted_native(summary, index) {
            Some(native) if planned == Some(Treatment::CallerCounted) => native.mid().0,
            _ => summary.hash.method(index, shape).0,
        }
    }

    pub(super) fn mid(&self, index: usize, shape: Shape) -> Option<Mid> {
        let hash = self.rewriter.world[self.id].summary.hash;
        self.recorded.then(|| hash.method(index, shape))
    }

    /// Cost of a straight piece of code including its entry: its number of bytecodes, unless there
    /// is a cost model.
    pub(super) fn straight_cost(&self, code: &Code<'a>) -> u32 {
        let size = code.length();
        match self.rewriter.settings.cost_model {
            None => code.instructions().count() as u32,
            Some(model) => {
                let pool = &self.class.pool;
                model.entry(size) + code.instructions().map(|i| model.of(&i, pool, size)).sum::<u32>()
            }
        }
    }

    pub(super) fn original_head(&self, member: &Member<'a>) -> MemberBuilder {
        let mut head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
        head.copy_attributes(member, |name| name != b"Code");
        head
    }
}
