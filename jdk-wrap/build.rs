//! Lists the class files of the runtime for `lib.rs` to embed: those in `classes/`, which
//! `cargo xtask runtime` compiled from the sources next to it. So no JDK is needed here, and the
//! runtime's bytes are the same on every machine.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use cct_runtime_sources::{GROUPS, Record, SOURCES, files_below};

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for folder in SOURCES.iter().chain(&["classes"]) {
        tell_cargo(&format!("rerun-if-changed={folder}"));
    }
    let record = match Record::checked(&root) {
        Ok(record) => record,
        Err(error) => {
            // Cargo prints a build script's error in Rust's debug format; this one is for people.
            tell_cargo(&format!("error={error}"));
            return Err(error.into());
        }
    };
    fs::write(out.join("compiler.txt"), record.compiler)?;
    for group in GROUPS {
        fs::write(out.join(group).with_extension("rs"), table(&root.join("classes").join(group))?)?;
    }
    Ok(())
}

/// Writes a directive to standard output, where cargo reads it.
#[allow(clippy::print_stdout)]
fn tell_cargo(directive: &str) {
    println!("cargo::{directive}");
}

/// The elements of `lib.rs`'s slice, sorted by class name.
fn table(classes: &Path) -> Result<String, Box<dyn Error>> {
    let mut named = Vec::new();
    for file in files_below(classes)? {
        let relative = file.strip_prefix(classes)?.with_extension("");
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        named.push((parts.join("/"), file));
    }
    named.sort();
    let mut text = String::from("&[\n");
    for (name, file) in named {
        let path = file.to_str().ok_or_else(|| format!("{}: a path that is not Unicode", file.display()))?;
        text.push_str(&format!("    ({name:?}, include_bytes!({path:?})),\n"));
    }
    text.push_str("]\n");
    Ok(text)
}
