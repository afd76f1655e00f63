//! The plan: every method gets exactly one treatment, with a reason.
//!
//! The rules for a single method come first ([`treatment`]), then the demands of the hierarchy
//! ([`crate::closure`]). The treatments decide how call sites call ([`call_target`]).

mod call_target;
mod closed;
mod kept_treatment;
mod prefixed;
pub(crate) mod rows;
#[cfg(test)]
mod tests;
pub(crate) mod treatment;

pub use call_target::{CallTarget, Foreign, counted_native};
pub(crate) use closed::is_closed;
pub use rows::Plan;

use std::sync::Arc;

use cct_classfile::mutf8::lossy;

use crate::closure;
use crate::error::{Error, Result};
use crate::marks::Marks;
use crate::world::{Role, World};
use cct_settings::Settings;
use treatment::own;

impl Plan {
    /// Plans all inputs of a world, without marked methods.
    pub fn new(world: &World, settings: &Settings) -> Result<Plan> {
        Plan::marked(world, settings, &Marks::default())
    }

    /// Plans all inputs of a world, with the methods that the user named for recording.
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
                        Ok(summary
                            .kept
                            .as_ref()
                            .map_or(own, |kept| kept_treatment::planned_as_kept(kept, summary, m, own)))
                    };
                    summary.methods.iter().map(treatment).collect::<Result<_>>()?
                }
            };
            treatments.push(rows);
        }
        let mut plan = Plan::of_rows(treatments);
        closure::close(world, &mut plan, settings.context);
        Ok(plan)
    }
}
