//! The filter of recorded classes.

use anyhow::Result;
use cct_rewrite::filter::Filter;
use cct_settings::Choices;

/// Creates the filter of recorded classes.
///
/// # Errors
/// Fails if choices cannot be combined or are for markers alone, or if a glob is invalid.
pub fn filter(choices: &Choices) -> Result<Filter> {
    choices.check_recording()?;
    Ok(Filter::new(&choices.include, &choices.exclude)?)
}
