//! What trials need.

use std::path::PathBuf;

use super::root::Roots;
use crate::dist::packages::Packages;

/// The packages, where they are tried, and with what.
pub struct Setting<'a> {
    pub packages: &'a Packages,
    pub roots: &'a Roots,
    /// A program in a jar: Rhino's shell.
    pub jar: PathBuf,
}
