//! The crate as its callers see it. All jars are made here, by a builder that shares no code with
//! the crate, and read back by the `zip` crate.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod bad_input;
mod builder;
mod folders;
mod image_builder;
mod images;
mod jars;
mod jdk;
mod jdk_images;
mod lone;
mod nested;
mod signed;
mod support;
mod targets;
