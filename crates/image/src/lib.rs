//! The text files by which a profiled JDK says what it is: its [`Record`] and its [`Manifest`]
//! (docs/reference/images.md).
//!
//! Nothing here knows how an image is made, or reads the files that a manifest names.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod manifest;
pub mod record;

pub use manifest::{CoveredFile, Manifest};
pub use record::Record;
