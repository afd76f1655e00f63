//! The records of options in the provenance of outputs (docs/reference/formats/index.md).

use std::collections::BTreeMap;

use cct_columns::Columns;
use cct_pcc::MethodChoice;
use cct_pcc::method_choice::{joined, separated};
use cct_tables::{BlockEnds, BlockRule, CostModel};

use crate::settings::{Metrics, Settings, Tool};

/// The record of an option in the provenance of outputs.
#[derive(Debug, Clone, Copy)]
pub enum Record {
    /// None: outputs that differ in it run together, or another option's keys imply it.
    No,
    /// The option's word, or `yes` and `no`, under this key.
    Word(&'static str),
    /// Keys and values of the option's own.
    With {
        /// The keys that it may write.
        keys: &'static [&'static str],
        /// Returns its keys and values.
        write: fn(&Settings) -> Vec<(&'static str, String)>,
        /// Reads them; `None` if they are wrong. A later check finds keys that `write` would not
        /// return.
        read: fn(&mut Settings, &Entries<'_>) -> Option<()>,
    },
}

impl Record {
    /// The keys that the record may have.
    pub(crate) fn keys(&self) -> &[&'static str] {
        match self {
            Record::No => &[],
            Record::Word(key) => std::slice::from_ref(key),
            Record::With { keys, .. } => keys,
        }
    }
}

/// The `key=value` lines of a provenance.
pub struct Entries<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Entries<'t> {
    pub(crate) fn of(lines: &'t str) -> Entries<'t> {
        // If a key occurs twice, the first line counts, as for other readers.
        Entries(lines.lines().rev().filter_map(|line| line.split_once('=')).collect())
    }

    pub(crate) fn value(&self, key: &str) -> Option<&'t str> {
        self.0.get(key).copied()
    }
}

/// Returns `trace=yes`, or `pcc=yes` with the chosen methods. Profiles have neither key, as before
/// other tools existed.
pub(crate) fn write_tool(settings: &Settings) -> Vec<(&'static str, String)> {
    match settings.tool {
        Tool::Profile => Vec::new(),
        Tool::Trace => vec![("trace", "yes".to_owned())],
        Tool::Pcc(chosen) => vec![
            ("pcc", "yes".to_owned()),
            ("pcc-at", joined(&chosen.at)),
            ("pcc-only", joined(&chosen.only)),
        ],
    }
}

pub(crate) fn read_tool(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    settings.tool = match (entries.value("trace"), entries.value("pcc")) {
        (None, None) => Tool::Profile,
        (Some(_), None) => Tool::Trace,
        (None, Some(_)) => {
            let [at, only] = ["pcc-at", "pcc-only"].map(|key| entries.value(key));
            Tool::Pcc(MethodChoice::parse(separated(at?), separated(only?)).ok()?.interned())
        }
        (Some(_), Some(_)) => return None,
    };
    Some(())
}

/// Returns `markers=yes` if markers are combined with counts.
pub(crate) fn write_markers(settings: &Settings) -> Vec<(&'static str, String)> {
    if settings.markers { vec![("markers", "yes".to_owned())] } else { Vec::new() }
}

pub(crate) fn read_markers(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    settings.markers = entries.value("markers").is_some();
    Some(())
}

pub(crate) fn read_metrics(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    // The cost model names the unit.
    let is_calls = entries.value("metrics")? == "calls";
    settings.metrics = if is_calls { Metrics::Calls } else { Metrics::CallsAndBytecodes };
    Some(())
}

/// Returns the rule's name, and a table's contents: classes that are loaded while the program runs
/// are counted by the same table.
pub(crate) fn write_blocks(settings: &Settings) -> Vec<(&'static str, String)> {
    let ends = match settings.block_rule() {
        Some(BlockRule::Custom(ends)) => Some(("block-ends", ends.encoded())),
        _ => None,
    };
    [("blocks", settings.blocks_name().into_owned())].into_iter().chain(ends).collect()
}

pub(crate) fn read_blocks(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    let name = entries.value("blocks")?;
    settings.blocks = match entries.value("block-ends") {
        Some(text) => BlockRule::Custom(BlockEnds::decode(text)?.interned()),
        None if name == "none" => Settings::default().blocks,
        None => BlockRule::BUILT_IN.into_iter().find(|rule| rule.name() == name)?,
    };
    Some(())
}

/// Returns the names of the columns. Outputs without columns are unchanged from before columns
/// existed.
pub(crate) fn write_columns(settings: &Settings) -> Vec<(&'static str, String)> {
    let columns = settings.columns;
    if columns.is_empty() { Vec::new() } else { vec![("columns", columns.names())] }
}

pub(crate) fn read_columns(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    if let Some(names) = entries.value("columns") {
        settings.columns = Columns::parse(names)?;
    }
    Some(())
}

/// Returns the model's name and contents. Outputs without one are unchanged from before cost models
/// existed.
pub(crate) fn write_costs(settings: &Settings) -> Vec<(&'static str, String)> {
    let costs = settings.cost_model.map(|model| [("cost-model", model.id()), ("costs", model.encoded())]);
    costs.into_iter().flatten().collect()
}

pub(crate) fn read_costs(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    if let Some(costs) = entries.value("costs") {
        settings.cost_model = Some(CostModel::decode(costs)?.interned());
    }
    Some(())
}
