//! Opened inputs of an instrumentation.

use std::path::Path;

use cct_archive::{Input, Target};

use super::class_path::{self, ClassPathError, ManifestPath};
use super::request::InstrumentRequest;
use crate::inputs::{Sources, SourcesError};
use crate::observer::Observer;

/// Inputs of an instrumentation that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// An input or library cannot be opened.
    #[error(transparent)]
    Sources(#[from] SourcesError),
    /// What a manifest names cannot be opened.
    #[error(transparent)]
    ClassPath(#[from] ClassPathError),
}

/// The opened inputs of an instrumentation.
#[derive(Debug)]
pub struct OpenedInputs {
    /// The inputs, then those that manifests name if they are wanted, and the libraries.
    pub sources: Sources,
    /// Jars and folders that manifests name, if they are rewritten, too. They are the last inputs.
    pub named: Vec<ManifestPath>,
    /// Jars and folders that manifests name, if they are not rewritten. They serve only to report
    /// missing ones.
    pub left_out: Vec<ManifestPath>,
}

impl OpenedInputs {
    /// Opens the inputs and libraries of a request.
    ///
    /// # Errors
    /// Fails if an input or library cannot be opened.
    pub fn of(request: &InstrumentRequest) -> Result<OpenedInputs, OpenError> {
        let limits = &request.limits;
        let mut inputs = Sources::open_inputs(&request.inputs, limits)?;
        let found = class_path::of(&inputs, limits);
        let (named, left_out) = if request.class_path {
            let (named, opened): (_, Vec<Input>) = found?.into_iter().unzip();
            inputs.extend(opened);
            (named, Vec::new())
        } else {
            (Vec::new(), found.unwrap_or_default().into_iter().map(|(named, _)| named).collect())
        };
        Ok(OpenedInputs { sources: Sources::of(inputs, &request.choices.library, limits)?, named, left_out })
    }
}

/// Reports jars and folders that outputs will look for beside them and not find.
pub fn say_missing(named: &[ManifestPath], targets: &[Target], observer: &dyn Observer) {
    for (input, target) in targets.iter().enumerate() {
        let beside = target.path().parent().unwrap_or(Path::new(""));
        let is_missing = |n: &&ManifestPath| n.input == input && !beside.join(&n.relative).exists();
        let missing: Vec<&ManifestPath> = named.iter().filter(is_missing).collect();
        if let Some(first) = missing.first() {
            observer.note(&format!(
                "{}: its manifest names {} ({} in all), which are not beside it; copy them there, or rewrite them too with --class-path",
                target.path().display(),
                first.relative.display(),
                missing.len()
            ));
        }
    }
}
