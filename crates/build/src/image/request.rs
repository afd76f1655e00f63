//! What is asked for where an image is made.

use std::path::PathBuf;

use cct_settings::Choices;

use super::cache::{self, NoPlace};
use super::tree::CopyMode;
use crate::jvm_options::stack_traces;
use crate::user_module::ModuleOptions;

/// The image of a JDK, as it is asked for.
#[derive(Debug)]
pub struct ImageRequest {
    /// The home of the JDK.
    pub home: PathBuf,
    /// How classes are rewritten.
    pub choices: Choices,
    /// The module of the user's that gets the classes first.
    pub module: ModuleOptions,
    /// The folder of images in which it is found or made; without one it is made anew.
    pub cache: Option<PathBuf>,
    /// What becomes of files that stay as they are.
    pub copy_mode: CopyMode,
    /// Whether archives of classes for faster starts are made (CDS), where HotSpot can have some.
    pub archives_classes: bool,
    /// How many frames the stack trace of an exception has at most; -1 for no limit.
    pub stack_depth: i32,
    /// Whether a completeness report is wanted.
    pub has_report: bool,
    /// What summaries call the image; without it, by the JDK's home.
    pub name: Option<PathBuf>,
}

impl ImageRequest {
    /// The image of a JDK that a command takes from a cache for its own use, by default from the
    /// user's.
    ///
    /// # Errors
    /// The user has no cache folder.
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
