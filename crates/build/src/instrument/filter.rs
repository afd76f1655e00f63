//! The filter of recorded classes.

use cct_rewrite::filter::{BadGlob, Filter};
use cct_settings::{Choices, RefusedOptions};

/// Choices that name no classes to record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// They cannot be combined, or are for markers alone.
    #[error(transparent)]
    Refused(#[from] RefusedOptions),
    /// A glob is invalid.
    #[error(transparent)]
    Glob(#[from] BadGlob),
}

/// Creates the filter of recorded classes.
///
/// # Errors
/// Fails if choices cannot be combined or are for markers alone, or if a glob is invalid.
pub fn filter(choices: &Choices) -> Result<Filter, FilterError> {
    choices.check_recording()?;
    Ok(Filter::new(&choices.include, &choices.exclude)?)
}
