//! The plan: every method gets exactly one treatment, with a reason.
//!
//! The rules of one method on its own come first ([`treatment`]), then what the hierarchy demands ([`crate::closure`]). From treatments follows how
//! call sites call ([`call_target`]).

mod call_target;
pub(crate) mod closed;
mod extension;
pub(crate) mod kept;
mod planned;
mod prefixed;
mod table;
#[cfg(test)]
mod tests;
mod treatment;

pub(crate) use crate::names::lossy;
pub(crate) use call_target::monomorphic;
pub use call_target::{CallTarget, Foreign, counted_native};
pub use extension::{with_extension, without_extension};
pub use planned::Planned;
pub(crate) use planned::planned;
pub use table::Plan;
pub(crate) use treatment::leading_below;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::closure;
use crate::error::{Error, Result};
use crate::marks::Marks;
use crate::settings::Settings;
use crate::world::{Role, World};
use kept::planned_as_kept;
use treatment::own;

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
                        Ok(summary.kept.as_ref().map_or(own, |kept| planned_as_kept(kept, summary, m, own)))
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
}
