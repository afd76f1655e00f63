//! Copying a JDK, with its progress on the terminal.

use std::path::Path;

use anyhow::Result;
use cct_build::image::tree::{Manner, Tree};

use crate::progress::Progress;

/// Makes everything of a tree anew in an empty folder.
pub fn copy(tree: &Tree, to: &Path, manner: Manner, quiet: bool) -> Result<()> {
    let progress = Progress::of("copying", tree.files().count() as u64, !quiet);
    tree.copy(to, manner, || progress.step())
}
