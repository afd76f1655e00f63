//! User-defined instrumentation modules (docs/research/udi.md): user transformations of class
//! files, which run before cctrewrite's.
//!
//! A module is a program of its own. One in Rust implements [`Module`], and its `main` is
//! [`serve`]; one in Java is a jar for which the command starts a JVM. The command asks both class
//! by class over a pipe ([`wire`]), and [checks](check()) their answers before it uses them.
//!
//! Modules run as processes, which are always ended, even after an error. The command shows a
//! module all classes at once ([`Process::converse`]); the load-time library shows it each class
//! when it is defined ([`Session`]).

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod check;
mod error;
mod hearing;
mod module;
mod process;
mod session;
#[cfg(test)]
mod tests;
pub mod wire;

use std::path::Path;
use std::{fs, io};

pub use check::{Misfit, check, check_runtime};
pub use error::Error;
pub use module::{Failure, Module, Outcome, RUNTIME_PACKAGE, RuntimeClass};
pub use process::{ClassToTransform, Launch, Process};
pub use session::Session;
pub use wire::serve;

/// The name of a module in outputs: its file's name and a hash of its contents.
///
/// # Errors
/// If the file cannot be read.
pub fn identity(module: &Path) -> io::Result<String> {
    let bytes = fs::read(module)?;
    // It appears in lines of `key=value`, and in a manifest.
    let stem = module.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let name: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    Ok(format!("{name}@{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)))
}
