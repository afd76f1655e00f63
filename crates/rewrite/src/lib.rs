//! The world, the plan and the passes: it chooses each method's treatment and rewrites the classes.
//! Opens no file.
//!
//! The route of a class: [`survey`] (in parallel) -> [`world`] -> [`plan`] with [`closure`](plan)
//! -> [`rewriter`] (in parallel), where [`body`] applies the [`passes`] with the code that the
//! [`carrier`] supplies, and [`wrappers`] writes the forwarders -> the records of a [`cct_index`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod allocation;
pub mod body;
pub mod carrier;
mod closure;
pub mod error;
pub mod filter;
pub mod hooks;
pub mod jlink;
pub mod kept_members;
pub mod markers;
pub mod marks;
pub mod module_descriptor;
pub mod module_graph;
pub mod pass;
pub mod passes;
mod pcc;
pub mod pins;
pub mod plan;
pub mod planned_treatment;
mod provenance;
pub mod report;
pub mod rewriter;
pub mod runtime_classes;
mod structure;
pub mod survey;
#[cfg(test)]
mod testing;
pub mod tracing;
pub mod world;
pub mod wrappers;

pub use error::{Error, Result};
pub use provenance::provenance;
pub use rewriter::{Rewriter, RewrittenClass};
pub use survey::ClassSummary;
pub use world::{Role, World};
