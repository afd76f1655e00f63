//! Tables by opcode that users write: costs of instructions ([`cost`]), and ends of basic blocks
//! ([`ends`], [`rule`]). A file is a small part of TOML ([`toml`]). Outputs carry a table as one
//! line of text, since classes that are loaded while the program runs must be counted by the same
//! table.
//!
//! Both the planner and the checker of counters read these tables; neither knows the other.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod cost;
pub mod ends;
mod interner;
pub mod rule;
mod shipped;
pub mod toml;

pub use cost::CostModel;
pub use ends::BlockEnds;
pub use rule::BlockRule;
pub use toml::{Problem, TableError};
