//! The key of an image: a hash over everything that decides about its contents.

use anyhow::{Context, Result};
use cct_build::fingerprint::{content, of_file, text};
use cct_build::image::archive_of_classes::Variant;
use cct_build::image::tree::Tree;
use cct_build::load_time;
use xxhash_rust::xxh3::Xxh3;

use crate::args;
use crate::udi::Module;

/// The key: over the JDK's files, the choices as they are spelled, the options, and this build of cctrewrite with its libraries. How many threads there are and how files are
/// copied is not in it.
pub fn of(
    tree: &Tree,
    arguments: &args::Jdk,
    spelled: &[String],
    options: &[String],
    archives: &[Variant],
) -> Result<String> {
    let mut hash = Xxh3::new();
    for file in build()? {
        text(&mut hash, file.as_bytes());
    }
    for word in spelled.iter().chain(options) {
        text(&mut hash, word.as_bytes());
    }
    for library in &arguments.choices.library {
        content(&mut hash, library)?;
    }
    if let Some(module) = Module::of(&arguments.udi)? {
        text(&mut hash, module.identity.as_bytes());
    }
    for archive in archives {
        text(&mut hash, archive.file.as_bytes());
    }
    tree.hash(&mut hash)?;
    Ok(format!("{:032x}", hash.digest128()))
}

/// A hash of this build: of the command and of the libraries that go into images.
pub fn build() -> Result<Vec<String>> {
    let command = std::env::current_exe().context("cannot find this command's own file")?;
    let files = [Some(command), load_time::library(), load_time::vm(), load_time::prefix().ok()];
    files.into_iter().flatten().map(|file| Ok(format!("{:032x}", of_file(&file)?))).collect()
}
