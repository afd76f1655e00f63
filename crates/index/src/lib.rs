//! Metadata of outputs (docs/reference/formats/index.md): method ids, the index with its records,
//! the attribute of classes, positions of bytecodes, and provenance. Opens no file, and knows
//! nothing of how classes are rewritten.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod class_attribute;
mod format;
pub mod method_flags;
pub mod mid;
pub mod positions;
pub mod provenance;
pub mod read;
pub mod record;
pub mod treatment;
mod write;

pub use format::VERSION;
pub use write::{MidCollision, write};
