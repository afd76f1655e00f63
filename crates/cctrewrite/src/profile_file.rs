//! Files that hold profiles, as the command line names them: `-` is standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, Result};

/// Whether the path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens the file.
pub fn open(path: &Path) -> Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Box::new(file))
}

/// What the file is called in messages.
pub fn shown(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}
