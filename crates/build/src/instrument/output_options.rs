//! Options of outputs, besides inputs and targets.

use cct_settings::Choices;

use crate::inputs::BadClasses;
use crate::marking::TreeMarking;

/// Options of outputs, besides inputs and targets.
#[derive(Debug, Clone, Copy)]
pub struct OutputOptions<'a> {
    /// How classes are rewritten.
    pub choices: &'a Choices,
    /// Treatment of entries that are named like class files but are none.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// JVM options, one on each line. The only input, the modules of a JDK, gets them as a
    /// resource. The caller must then write its index.
    pub options: Option<&'a str>,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// Whether manifests of jars state the instrumentation and its options.
    pub manifest: bool,
    /// The hash over everything that determines the outputs, for the outputs to state.
    pub made_from: Option<&'a str>,
    /// Whether rewritten classes are checked against their originals.
    pub verify: bool,
    /// The markers to add, if any.
    pub beside: Option<&'a TreeMarking>,
}
