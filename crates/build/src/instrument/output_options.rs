//! What outputs are to be, beside what goes in and where it comes out.

use cct_settings::Choices;

use crate::inputs::BadClasses;
use crate::marking::TreeMarking;

/// What outputs are to be, beside what goes in and where it comes out.
#[derive(Debug, Clone, Copy)]
pub struct OutputOptions<'a> {
    /// How classes are rewritten.
    pub choices: &'a Choices,
    /// What to do with entries that are no classes.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// JVM options that the only input, the modules of a JDK, gets as a resource (one on each
    /// line). Its index is then left to the caller.
    pub options: Option<&'a str>,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// Whether manifests of jars say that and how they were instrumented.
    pub manifest: bool,
    /// What outputs say they were made from.
    pub made_from: Option<&'a str>,
    /// Whether rewritten classes are checked against their originals.
    pub verify: bool,
    /// What is marked beside.
    pub beside: Option<&'a TreeMarking>,
}
