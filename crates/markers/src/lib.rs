//! Markers (MTF 2010, chapter 3): code locations at which clients are called, by rules that users
//! write.
//!
//! [`rules`] reads a file, [`places`] finds the matching locations in a class, [`weave`] inserts
//! calls of the runtime there, and [`attribute`] lists the markers in the class. This crate knows
//! nothing of contexts, profiles or archives: a class goes in and a class comes out, so it also
//! works on the results of other passes.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod attribute;
mod branching;
mod callee;
mod gate;
mod helpers;
mod initialised_objects;
pub mod library;
mod patterns;
pub mod places;
pub mod rules;
pub mod weave;
pub mod world;

pub use attribute::Descriptor;
pub use gate::helpers as helpers_of_object;
pub use helpers::Slot;
pub use places::{MatchedPlace, Refusal, Spot};
pub use rules::{At, Callers, Rule, Rules, RulesError};
pub use weave::class_markers::{ClassMarkers, LeftOut};
pub use weave::{Error, Library, MarkedClass, Way, mark};
pub use world::World;
