//! What is asked for where outputs are made.

use std::path::PathBuf;

use cct_archive::Limits;
use cct_settings::Choices;

use crate::inputs::BadClasses;
use crate::user_module::ModuleOptions;

/// What is to be instrumented, and how.
#[derive(Debug)]
pub struct InstrumentRequest {
    /// Jars, folders of classes, class files, images, jmods.
    pub inputs: Vec<PathBuf>,
    /// Where the output of a single input goes, or the folder of several outputs.
    pub output: PathBuf,
    /// How classes are rewritten.
    pub choices: Choices,
    /// The module of the user's that gets the classes first.
    pub module: ModuleOptions,
    /// Whether images, modules and jmods become patches.
    pub patches: bool,
    /// Whether what manifests name in their `Class-Path` is rewritten, too.
    pub class_path: bool,
    /// Whether outputs stay that were made from the same.
    pub if_changed: bool,
    /// Whether manifests of jars say that and how they were instrumented.
    pub manifest: bool,
    /// Whether rewritten classes are checked against their originals.
    pub verify: bool,
    /// Where the completeness report goes.
    pub report: Option<PathBuf>,
    /// What to do with entries that are no classes.
    pub bad: BadClasses,
    /// Compression of new entries, 0 to 9.
    pub level: u32,
    /// Bounds on what inputs may make of themselves.
    pub limits: Limits,
}
