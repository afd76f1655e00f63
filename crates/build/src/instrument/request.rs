//! The request for an instrumentation.

use std::path::PathBuf;

use cct_archive::Limits;
use cct_settings::Choices;

use crate::inputs::BadClasses;
use crate::user_module::ModuleOptions;

/// Inputs, output and options of an instrumentation.
#[derive(Debug)]
pub struct InstrumentRequest {
    /// Jars, folders of classes, class files, images, jmods.
    pub inputs: Vec<PathBuf>,
    /// The output of a single input, or the folder of several outputs.
    pub output: PathBuf,
    /// How classes are rewritten.
    pub choices: Choices,
    /// The user's module, which gets the classes first.
    pub module: ModuleOptions,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// Whether jars and folders that manifests name in their `Class-Path` are rewritten, too.
    pub class_path: bool,
    /// Whether outputs stay if they were made from the same inputs with the same options.
    pub if_changed: bool,
    /// Whether manifests of jars state the instrumentation and its options.
    pub manifest: bool,
    /// Whether rewritten classes are checked against their originals.
    pub verify: bool,
    /// The file of the completeness report, if one is wanted.
    pub report: Option<PathBuf>,
    /// Treatment of entries that are named like class files but are none.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// Limits on how much inputs may unfold.
    pub limits: Limits,
}
