//! The text files that describe a profiled JDK: its [`Record`] and its [`Manifest`]
//! (docs/reference/images.md).
//!
//! This crate does not know how an image is built, and does not read the files that a manifest
//! lists.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod manifest;
pub mod record;

pub use manifest::{CoveredFile, Manifest};
pub use record::Record;
