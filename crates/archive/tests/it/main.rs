//! The crate as its callers see it. A builder that shares no code with the crate creates all jars,
//! and the `zip` crate reads them back.
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
