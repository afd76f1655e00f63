//! The classes that are recorded.

use anyhow::Result;
use cct_rewrite::filter::Filter;
use cct_settings::Choices;

/// The classes that are recorded.
///
/// # Errors
/// Choices that do not go together, markers alone, a glob that is none.
pub fn filter(choices: &Choices) -> Result<Filter> {
    choices.check_recording()?;
    Ok(Filter::new(&choices.include, &choices.exclude)?)
}
