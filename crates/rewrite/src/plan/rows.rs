//! The plan's rows: the treatment of each method, and the extended forms to add.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::planned_treatment::PlannedTreatment;
use crate::world::{ClassId, MethodId};

/// The plan for all inputs.
#[derive(Debug)]
pub struct Plan {
    /// The treatments by class; empty for library classes that stay unchanged.
    treatments: Vec<Arc<[PlannedTreatment]>>,
    /// Extended forms to add to classes that inherit two of them from unrelated interfaces.
    tie_breaks: FxHashMap<ClassId, Vec<MethodId>>,
}

impl Plan {
    /// A plan with these rows for each class of a world, and no additions.
    pub(super) fn of_rows(treatments: Vec<Arc<[PlannedTreatment]>>) -> Plan {
        Plan { treatments, tie_breaks: FxHashMap::default() }
    }

    /// A method's treatment; `None` for methods of classes that are rewritten neither in this run
    /// nor in an earlier one.
    pub fn get(&self, method: MethodId) -> Option<PlannedTreatment> {
        self.treatments[method.class.0 as usize].get(usize::from(method.index)).copied()
    }

    pub(crate) fn set(&mut self, method: MethodId, to: PlannedTreatment) {
        Arc::make_mut(&mut self.treatments[method.class.0 as usize])[usize::from(method.index)] = to;
    }

    /// The rows of a class.
    pub fn of_class(&self, class: ClassId) -> &[PlannedTreatment] {
        &self.treatments[class.0 as usize]
    }

    /// Methods of superinterfaces for which this class needs an extended form of its own.
    pub fn tie_breaks(&self, class: ClassId) -> &[MethodId] {
        self.tie_breaks.get(&class).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add_tie_break(&mut self, class: ClassId, method: MethodId) {
        self.tie_breaks.entry(class).or_default().push(method);
    }
}
