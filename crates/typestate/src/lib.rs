//! Typestate properties (Du 2010, chapter 4): the allowed orders of operations on an object, as
//! regular expressions over events.
//!
//! A file defines events and their locations ([`file`]). Each property's expression
//! ([`expression`]) becomes a minimal automaton ([`automaton`]). The JVM gets it as text
//! ([`encoded`]), with rules of markers for its events ([`rules`]). [`shipped`] has the built-in
//! properties.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod automaton;
pub mod dot;
pub mod encoded;
mod error;
pub mod expression;
pub mod file;
pub mod property;
pub mod report;
pub mod rules;
pub mod shipped;
mod toml;

pub use error::{FileError, Problem};
pub use property::Property;
