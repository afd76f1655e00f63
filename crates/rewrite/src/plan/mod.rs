//! The plan: every method gets exactly one treatment, with a reason.
//!
//! The rules of one method on its own come first ([`treatment`]), then what the hierarchy demands ([`crate::closure`]). From treatments follows how
//! call sites call ([`call_target`]).

mod call_target;
mod kept;
mod prefixed;
#[cfg(test)]
mod tests;
mod treatment;

pub(crate) use call_target::monomorphic;
pub use call_target::{CallTarget, Foreign, counted_native};
pub use kept::{Kept, KeptMembers, LoneForm};
pub(crate) use treatment::leading_below;

use std::sync::Arc;

use cct_classfile::descriptor::end_of_parameters;
use cct_index::treatment::Treatment;
use rustc_hash::FxHashMap;

use crate::closure;
use crate::convention;
use crate::error::{Error, Result};
use crate::marks::Marks;
use crate::settings::Settings;
use crate::world::{ClassId, MethodId, Role, World};
use treatment::own;

/// A method's treatment and its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Planned {
    /// The treatment.
    pub treatment: Treatment,
    /// Why, for people; empty where the treatment is the ordinary one for such a method.
    pub reason: &'static str,
}

impl Planned {
    /// What was done in an earlier run, whose reasons are not known any more.
    pub const fn settled(treatment: Treatment) -> Self {
        Planned { treatment, reason: "" }
    }
}

pub(crate) const fn planned(treatment: Treatment, reason: &'static str) -> Planned {
    Planned { treatment, reason }
}

/// The plan for all inputs.
#[derive(Debug)]
pub struct Plan {
    /// By class; empty for library classes that stay as they are.
    treatments: Vec<Arc<[Planned]>>,
    /// Extended forms to be added to classes that inherit two of them from unrelated interfaces.
    tie_breaks: FxHashMap<ClassId, Vec<MethodId>>,
}

impl Plan {
    /// Plans all inputs of a world.
    pub fn new(world: &World, settings: &Settings) -> Result<Plan> {
        Plan::marked(world, settings, &Marks::default())
    }

    /// The same, where methods are marked.
    pub fn marked(world: &World, settings: &Settings, marks: &Marks) -> Result<Plan> {
        let mut treatments = Vec::with_capacity(world.len());
        for id in world.ids() {
            let class = &world[id];
            let summary = &class.summary;
            let rows = match (class.role, &summary.settled) {
                (Role::Input, Some(_)) => return Err(Error::AlreadyRewritten(lossy(&summary.name))),
                (_, Some(settled)) => settled.clone(),
                (Role::Library, None) => Arc::default(),
                (Role::Input | Role::Companion, None) => {
                    let treatment = |m| {
                        let own = marks.treatment(summary, m, own(summary, m, settings)?);
                        Ok(summary.kept.as_ref().map_or(own, |kept| kept.planned(summary, m, own)))
                    };
                    summary.methods.iter().map(treatment).collect::<Result<_>>()?
                }
            };
            treatments.push(rows);
        }
        let mut plan = Plan { treatments, tie_breaks: FxHashMap::default() };
        closure::close(world, &mut plan, settings.context);
        Ok(plan)
    }

    /// A method's treatment; `None` for methods of classes that are not rewritten, neither now nor before.
    pub fn get(&self, method: MethodId) -> Option<Planned> {
        self.treatments[method.class.0 as usize].get(usize::from(method.index)).copied()
    }

    pub(crate) fn set(&mut self, method: MethodId, to: Planned) {
        Arc::make_mut(&mut self.treatments[method.class.0 as usize])[usize::from(method.index)] = to;
    }

    /// The rows of a class.
    pub fn of_class(&self, class: ClassId) -> &[Planned] {
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

/// The extended form of a descriptor.
pub fn with_extension(descriptor: &[u8]) -> Vec<u8> {
    let close = end_of_parameters(descriptor).unwrap_or(descriptor.len());
    [&descriptor[..close], convention::EXTENSION, &descriptor[close..]].concat()
}

/// The original form of an extended descriptor; `None` of one that is not extended.
pub fn without_extension(descriptor: &[u8]) -> Option<Vec<u8>> {
    let close = end_of_parameters(descriptor)?;
    let arguments = descriptor[..close].strip_suffix(convention::EXTENSION)?;
    Some([arguments, &descriptor[close..]].concat())
}

/// A name for people.
pub(crate) fn lossy(name: &[u8]) -> String {
    cct_classfile::mutf8::decode_lossy(name).into_owned()
}
