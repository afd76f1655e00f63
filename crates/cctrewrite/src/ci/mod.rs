//! What servers that build and test programs read.

pub mod github;
pub mod junit;
