//! The state of checking one class: results that several checks share.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{Bci, ClassFile, Member, MemberRefBuf};
use cct_events::structure::Recording;

use crate::expectation::Expectation;
use crate::fields::Fields;
use crate::finding::{Finding, Problem};
use crate::links::CountedCallee;
use crate::marked::CountedMarkers;
use crate::probe::CalleeEntry;
use crate::tally::Tally;
use crate::traces::Level;

/// Key of counted callees: opcode, reference, and their probe.
type CalleeKey = (u8, MemberRefBuf, (u8, i64, Option<CalleeEntry>));

/// The check of one class against its original.
pub struct Class<'c, 'a> {
    pub(crate) before: &'c ClassFile<'a>,
    pub(crate) after: &'c ClassFile<'a>,
    pub(crate) expectation: Expectation,
    pub(crate) hash: u64,
    pub(crate) findings: Vec<Finding>,
    pub(crate) tally: Tally,
    /// Recorded bodies, for the rule: member, whether it has the extended signature, length of the
    /// original, and the contradiction to each rule.
    pub(crate) counts: Vec<(usize, bool, u32, Vec<Option<Finding>>)>,
    /// Whether the class is recorded, as far as known.
    pub(crate) is_recorded: Option<bool>,
    /// Methods that are recorded if the class is, with the attribute's statement.
    pub(crate) may_be_recorded: Vec<MayBeRecorded>,
    /// Whether an answer of a clock is replaced, and the first that is not: a member and a location
    /// in it.
    pub(crate) pins: (bool, Option<Finding>),
    /// Numbers of methods that are counted when called by their original signature.
    pub(crate) counts_itself: BTreeSet<usize>,
    /// Numbers of methods that callers count, and that are recorded.
    pub(crate) by_callers: BTreeSet<usize>,
    /// Callees that this class counts.
    pub(crate) counted: BTreeMap<CalleeKey, CountedCallee>,
    /// The number of its first method in a trace, if it is recorded in one.
    pub(crate) first_method: Option<u32>,
    /// The recorded events of methods with bodies, by number.
    pub(crate) traced: BTreeMap<usize, MethodEvents>,
    /// The amount that is recorded of methods without bodies, by number.
    pub(crate) bodiless: BTreeMap<usize, Recording>,
    /// The class's own fields.
    pub(crate) own_fields: Fields<'a>,
    /// The attribute's record of the original positions of bytecodes, for each method.
    pub(crate) positions: Vec<&'a [u8]>,
    /// The markers of the class, if it has some.
    pub(crate) beside: CountedMarkers<'a>,
    /// Added methods that counts do not need.
    pub(crate) of_markers: Vec<&'c Member<'a>>,
}

impl Class<'_, '_> {
    pub(crate) fn find(&mut self, problem: Problem) {
        self.findings.push(Finding::of(problem));
    }
}

/// The events found in a method.
#[derive(Debug, Clone)]
pub(crate) struct MethodEvents {
    pub(crate) level: Level,
    /// Call sites with events of their callees, each with whether they are written only if the
    /// callee is the one that the site names.
    pub(crate) telling: Vec<(Bci, bool)>,
}

/// A method whose form fits both a recorded class and one that is not: its number, and whether the
/// attribute says that it is not recorded.
pub type MayBeRecorded = (usize, bool);
