//! Outputs from inputs: jars that are rewritten or marked, images of JDKs and their cache, what
//! outputs say of themselves, the JVM options that they need.
//!
//! Part of the command: it knows neither arguments nor terminals. Its errors have a type for each
//! subject, next to what fails. Their messages, with those of their sources, are for people.
//! What is to be heard while it works goes to an [`observer`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod api_jar;
pub mod check_failed;
pub mod classes;
pub mod driver;
pub mod file_error;
pub mod fingerprint;
pub mod image;
pub mod inputs;
pub mod instrument;
pub mod jdk;
pub mod jdk_homes;
pub mod jvm_options;
pub mod load_time;
pub mod marking;
pub mod observer;
pub mod output;
pub mod pending_file;
pub mod place;
pub mod size;
mod survey;
pub mod target_jdk;
pub mod temporary_folder;
pub mod text;
pub mod threads;
pub mod user_module;
