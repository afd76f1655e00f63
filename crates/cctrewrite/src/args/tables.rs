//! Tables by opcode, from files or those that come along.

use std::fs;

use cct_rewrite::{BlockRule, Settings};
use cct_tables::{BlockEnds, CostModel};

/// A file larger than this is no table.
const LARGEST: u64 = 1 << 20;

/// The cost model of that name, or in that file.
pub fn cost_model(given: &str) -> Result<&'static CostModel, String> {
    let text = match CostModel::shipped(given) {
        Some(text) => text.to_owned(),
        None => file(given, "cost model", CostModel::shipped_names())?,
    };
    CostModel::parse(&text).map(CostModel::interned).map_err(|e| format!("{given}, {e}"))
}

/// The rule for blocks of that name, or in that file.
pub fn block_rule(given: &str) -> Result<BlockRule, String> {
    for rule in [BlockRule::Exact, BlockRule::Precise, BlockRule::Default] {
        if name_of_rule(rule) == given {
            return Ok(rule);
        }
    }
    let names = ["exact", "precise", "default"].into_iter().chain(BlockEnds::shipped_names());
    let text = match BlockEnds::shipped(given) {
        Some(text) => text.to_owned(),
        None => file(given, "rule for blocks", names)?,
    };
    let rule = BlockEnds::parse(&text).map_err(|e| format!("{given}, {e}"))?;
    Ok(BlockRule::Custom(rule.interned()))
}

/// What outputs call a rule: what its file has, not where it is.
pub fn name_of_rule(rule: BlockRule) -> String {
    Settings { blocks: rule, ..Settings::default() }.blocks_name().into_owned()
}

/// The text of a file. Whoever gave a name that does not come along hears of those that do.
fn file(given: &str, what: &str, names: impl Iterator<Item = &'static str>) -> Result<String, String> {
    let cannot = |why: String| {
        let names: Vec<_> = names.collect();
        format!("neither a {what} that comes along ({}) nor a file that can be read: {why}", names.join(", "))
    };
    match fs::metadata(given) {
        Ok(about) if about.is_file() && about.len() > LARGEST => {
            Err(format!("{given} has {} bytes, too many for a {what}", about.len()))
        }
        Ok(_) => fs::read_to_string(given).map_err(|e| cannot(e.to_string())),
        Err(e) => Err(cannot(e.to_string())),
    }
}
