//! User-defined instrumentation modules as processes (docs/udi.md): started, asked class by class, and ended whatever happens.
//!
//! The command shows a module all classes at once ([`Process::converse`]); the load-time library shows it each when it is defined ([`Session`]). What goes over the
//! pipes is in [`cct_rewrite::udi::wire`], and what may come of it in [`cct_rewrite::udi::check`].

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod error;
mod hearing;
mod process;
mod session;

use std::path::Path;
use std::{fs, io};

pub use error::Error;
pub use process::{Launch, Process, Shown};
pub use session::Session;

/// What outputs call a module: its file's name and a hash of its contents.
///
/// # Errors
/// If the file cannot be read.
pub fn identity(module: &Path) -> io::Result<String> {
    let bytes = fs::read(module)?;
    // It stands in lines of `key=value`, and in a manifest.
    let stem = module.file_stem().unwrap_or_default().to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let name: String = stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    Ok(format!("{name}@{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)))
}
