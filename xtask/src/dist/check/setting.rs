//! The inputs of trials.

use std::path::PathBuf;

use super::root::Roots;
use crate::dist::packages::Packages;

/// The packages, the roots for trials, and the program to profile.
pub struct Setting<'a> {
    pub packages: &'a Packages,
    pub roots: &'a Roots,
    /// The jar of the program to profile: Rhino's shell.
    pub jar: PathBuf,
}
