//! The properties of a file.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use cct_typestate::{Property, file, shipped};

/// The properties of a file, or of one that comes along.
pub(crate) fn properties(path: &Path) -> Result<Vec<Property>> {
    let text = match path.to_str().and_then(shipped::text) {
        Some(text) => text.to_owned(),
        None => std::fs::read_to_string(path).with_context(|| {
            let known = shipped::names().collect::<Vec<_>>().join(", ");
            format!("cannot read {} (what comes along is {known})", path.display())
        })?,
    };
    let properties = file::parse(&text).with_context(|| path.display().to_string())?;
    if properties.is_empty() {
        return Err(anyhow!("{} has no [[property]]", path.display()));
    }
    Ok(properties)
}
