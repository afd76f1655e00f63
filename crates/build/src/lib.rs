//! Outputs and the files around them: images of JDKs and their cache, places of outputs, provenance
//! of outputs, files that are complete or absent.
//!
//! Part of the command: it knows neither arguments nor messages, and its errors are for people.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod classes;
pub mod fingerprint;
pub mod image;
pub mod jdk;
pub mod jdk_homes;
pub mod load_time;
pub mod output;
pub mod pending_file;
pub mod place;
pub mod target_jdk;
pub mod temporary_folder;
pub mod vm_options;
