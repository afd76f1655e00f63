//! One class: what is not code must be as it was, and what was added must be known.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{Bci, ClassFile, Member};
use cct_events::structure::Recording;

use crate::expectation::Expectation;
use crate::fields::Fields;
use crate::finding::{Finding, Problem};
use crate::links::Counted;
use crate::marked::Beside;
use crate::probe::Entered;
use crate::tally::Tally;
use crate::traces::Level;

/// What tells counted callees apart: opcode, reference, and what is done for them.
type Counting = (u8, [Box<[u8]>; 3], (u8, i64, Option<Entered>));

/// Checks one class against its original.
pub struct Class<'c, 'a> {
    pub(crate) before: &'c ClassFile<'a>,
    pub(crate) after: &'c ClassFile<'a>,
    pub(crate) expectation: Expectation,
    pub(crate) hash: u64,
    pub(crate) findings: Vec<Finding>,
    pub(crate) tally: Tally,
    /// Bodies that are recorded, for the rule: member, length of the original, and what contradicts
    /// each rule.
    pub(crate) counts: Vec<(usize, bool, u32, Vec<Option<Finding>>)>,
    /// Whether the class is recorded, as far as is known.
    pub(crate) is_recorded: Option<bool>,
    /// What the attribute says of methods that are recorded if the class is.
    pub(crate) may_be_recorded: Vec<MayBeRecorded>,
    /// Whether some answer of a clock is replaced, and the first that is not: a member and where in
    /// it.
    pub(crate) pins: (bool, Option<Finding>),
    /// Methods that are counted when they are called under their original signature, by number.
    pub(crate) counts_itself: BTreeSet<usize>,
    /// Methods that callers count, and that are recorded, by number.
    pub(crate) by_callers: BTreeSet<usize>,
    /// Callees that are counted here.
    pub(crate) counted: BTreeMap<Counting, Counted>,
    /// The number of its first method in a trace, if it is recorded in one.
    pub(crate) first_method: Option<u32>,
    /// What is recorded of methods with bodies, by number.
    pub(crate) traced: BTreeMap<usize, Traced>,
    /// And of those without.
    pub(crate) bodiless: BTreeMap<usize, Recording>,
    /// The class's own fields.
    pub(crate) own_fields: Fields<'a>,
    /// What the attribute says of where the bytecodes of each method were.
    pub(crate) positions: Vec<&'a [u8]>,
    /// Its markers, if it has some.
    pub(crate) beside: Beside<'a>,
    /// Methods that were added and that nothing that counts needs.
    pub(crate) of_markers: Vec<&'c Member<'a>>,
}

impl Class<'_, '_> {
    pub(crate) fn find(&mut self, problem: Problem) {
        self.findings.push(Finding::of(problem));
    }
}

/// What was found out about the events of a method.
#[derive(Debug, Clone)]
pub(crate) struct Traced {
    pub(crate) level: Level,
    /// Call sites that tell of their callees, and whether only if it is the one that they name.
    pub(crate) telling: Vec<(Bci, bool)>,
}

/// A method with a form that may be recorded or not, as the whole class is: its number, and whether
/// the attribute says that it is not.
pub type MayBeRecorded = (usize, bool);
