//! Copying a JDK, with an observer.

use std::path::Path;

use crate::image::tree::{CopyError, CopyMode, Tree};
use crate::observer::Observer;

/// Makes everything of a tree anew in an empty folder.
///
/// # Errors
/// A file that cannot be read or written.
pub fn copy(tree: &Tree, to: &Path, mode: CopyMode, observer: &dyn Observer) -> Result<(), CopyError> {
    let steps = observer.begin("copying", Some(tree.files().count() as u64));
    tree.copy(to, mode, || steps.step())
}
