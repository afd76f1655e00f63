//! Options whose value is a built-in table or a file.

use std::borrow::Cow;

use cct_tables::{BlockEnds, BlockRule, CostModel};

/// Reads a user's file. An error holds the reason.
pub type ReadFile<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// Reads no file.
#[cfg(test)]
pub(crate) const NO_FILES: &ReadFile<'static> = &|_| Err("no files here".to_owned());

/// The cost model of that name, or in that file.
///
/// # Errors
/// A name that is neither built in nor a readable file, or a line of the file that is wrong.
pub fn cost_model(given: &str, read: &ReadFile<'_>) -> Result<&'static CostModel, String> {
    let text = match CostModel::shipped(given) {
        Some(text) => text.to_owned(),
        None => file(given, "cost model", CostModel::shipped_names().map(Cow::from), read)?,
    };
    CostModel::parse(&text).map(CostModel::interned).map_err(|e| format!("{given}, {e}"))
}

/// The rule for blocks of that name, or in that file.
///
/// # Errors
/// The errors of [`cost_model`].
pub fn block_rule(given: &str, read: &ReadFile<'_>) -> Result<BlockRule, String> {
    if let Some(rule) = BlockRule::BUILT_IN.into_iter().find(|rule| rule.name() == given) {
        return Ok(rule);
    }
    let text = match BlockEnds::shipped(given) {
        Some(text) => text.to_owned(),
        None => {
            let names = BlockRule::BUILT_IN.into_iter().map(BlockRule::name);
            file(given, "rule for blocks", names.chain(BlockEnds::shipped_names().map(Cow::from)), read)?
        }
    };
    let rule = BlockEnds::parse(&text).map_err(|e| format!("{given}, {e}"))?;
    Ok(BlockRule::Custom(rule.interned()))
}

/// The text of a file. The error lists the built-in names.
fn file(
    given: &str,
    what: &str,
    names: impl Iterator<Item = Cow<'static, str>>,
    read: &ReadFile<'_>,
) -> Result<String, String> {
    read(given).map_err(|why| {
        let names: Vec<_> = names.collect();
        format!("neither a built-in {what} ({}) nor a readable file: {why}", names.join(", "))
    })
}
