//! Requests for images.

use std::path::PathBuf;

use cct_settings::Choices;

use super::cache::{self, NoPlace};
use super::tree::CopyMode;
use crate::jvm_options::stack_traces;
use crate::user_module::ModuleOptions;

/// The request for an image of a JDK.
#[derive(Debug)]
pub struct ImageRequest {
    /// The home of the JDK.
    pub home: PathBuf,
    /// The options of rewriting.
    pub choices: Choices,
    /// The options of the user's module, which gets the classes first.
    pub module: ModuleOptions,
    /// The cache folder in which the image is found or made. `None`: always make a new image.
    pub cache: Option<PathBuf>,
    /// Whether unchanged files are copied or linked.
    pub copy_mode: CopyMode,
    /// Whether to make archives of classes for faster starts (CDS), if HotSpot supports them.
    pub archives_classes: bool,
    /// Maximum number of frames in the stack trace of an exception; -1: no limit.
    pub stack_depth: i32,
    /// Whether to make a completeness report.
    pub has_report: bool,
    /// The name of the image in summaries. `None`: the JDK's home.
    pub name: Option<PathBuf>,
}

impl ImageRequest {
    /// Creates the request of a command that needs an image for its own use. The image comes from
    /// `cache` (default: the user's cache).
    ///
    /// # Errors
    /// Fails if no cache is given and the user has no cache folder.
    pub fn for_use(home: PathBuf, choices: Choices, cache: Option<PathBuf>) -> Result<ImageRequest, NoPlace> {
        Ok(ImageRequest {
            home,
            choices,
            module: ModuleOptions::default(),
            cache: Some(cache.map_or_else(cache::default_folder, Ok)?),
            copy_mode: CopyMode::Copy,
            archives_classes: true,
            stack_depth: stack_traces::DEFAULT_DEPTH,
            has_report: false,
            name: None,
        })
    }
}
