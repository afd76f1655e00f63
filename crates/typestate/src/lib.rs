//! Typestate properties (Du 2010, chapter 4): in which order what may be done with an object, as
//! regular expressions over events.
//!
//! A file says what events are and where they happen ([`file`]); each property's expression
//! ([`expression`]) becomes a minimal automaton ([`automaton`]). That travels into the JVM as text
//! ([`encoded`]), with rules of markers for its events ([`rules`]). Properties that come along are
//! in [`shipped`].

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
