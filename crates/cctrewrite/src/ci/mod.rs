//! Formats that CI servers read.

pub mod github;
pub mod junit;
