//! What all developer tasks need: the workspace, JDKs, fetched files, processes, printed lines.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

pub mod cache;
pub mod class_library;
pub mod debian;
pub mod jdks;
pub mod key_values;
pub mod paths;
pub mod print;
pub mod process;
pub mod watch;
pub mod workspace;
