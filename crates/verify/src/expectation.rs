//! What is known of how a class was rewritten.

use cct_columns::{Column, Columns};
use cct_pcc::chosen::separated;
use cct_pcc::{BadPattern, Chosen};
use cct_tables::{BlockEnds, CostModel};
use xxhash_rust::xxh3::xxh3_64;

use crate::rule::Rule;

/// What the rewritten program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// A profile.
    Profile,
    /// With which values of calling contexts methods that were chosen were entered (docs/pcc.md).
    Values(&'static Chosen),
    /// Its events, in order (docs/trace.md).
    Trace,
    /// What clients of markers say (docs/markers.md).
    Markers,
}

/// What is known of how a class was rewritten. What is not known is found out, as far as one class tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expectation {
    /// What it is to leave behind.
    pub tool: Option<Tool>,
    /// The rule by which bytecodes are counted.
    pub rule: Option<Rule>,
    /// Whether results of clocks may be replaced.
    pub reproducible: Option<bool>,
    /// Whether call sites are told apart.
    pub call_sites: Option<bool>,
    /// Whether contexts are carried by the thread alone.
    pub by_thread: Option<bool>,
    /// Where blocks end, if a table says so; [`Rule::Precise`] stands for it then.
    pub block_ends: Option<&'static BlockEnds>,
    /// What bytecodes cost; `None` where each counts one.
    pub cost_model: Option<&'static CostModel>,
    /// Whether objects are counted.
    pub allocations: Option<bool>,
    /// What is counted beside calls and bytecodes.
    pub columns: Option<Columns>,
    /// Whether natives are left out.
    pub no_natives: Option<bool>,
    /// Whether natives may have been renamed.
    pub renames_natives: Option<bool>,
    /// Whether markers may stand beside what counts.
    pub markers: Option<bool>,
    /// Whether wrappers name their parameters: not where the class library was rewritten in the same run.
    pub parameter_names: Option<bool>,
    /// Hash of the lines that say so, which each class names.
    pub provenance: Option<u64>,
}

impl Expectation {
    /// What the provenance lines of an output say (docs/formats/index.md). Patterns over methods may be none.
    pub fn of(provenance: &str) -> Result<Self, BadPattern> {
        let value = |key: &str| provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let rule = value("blocks").and_then(|name| Rule::ALL.into_iter().find(|rule| rule.name() == name));
        let block_ends = value("block-ends").and_then(BlockEnds::decode).map(BlockEnds::interned);
        let rule = block_ends.map(|_| Rule::Precise).or(rule);
        let reproducible = value("reproducible").map(|v| v == "yes");
        let call_sites = value("call-sites").map(|v| v == "yes");
        let allocations = value("allocations").map(|v| v == "yes");
        let columns = Some(value("columns").and_then(Columns::parse).unwrap_or_default());
        let no_natives = value("natives").map(|v| v == "none");
        let renames_natives = value("natives").map(|v| v == "prefix");
        let by_thread = value("context").map(|v| v == "thread");
        let cost_model = value("costs").and_then(CostModel::decode).map(CostModel::interned);
        let tool = match (value("pcc"), value("trace")) {
            (_, Some("yes")) => Tool::Trace,
            (Some("yes"), _) => {
                let [at, only] = ["pcc-at", "pcc-only"].map(|key| separated(value(key).unwrap_or_default()));
                Tool::Values(Chosen::parse(at, only)?.interned())
            }
            _ => Tool::Profile,
        };
        let markers = Some(value("markers") == Some("yes"));
        let provenance = Some(xxh3_64(provenance.as_bytes()));
        Ok(Expectation {
            tool: Some(tool),
            rule,
            reproducible,
            call_sites,
            by_thread,
            block_ends,
            cost_model,
            allocations,
            columns,
            no_natives,
            renames_natives,
            markers,
            parameter_names: None,
            provenance,
        })
    }

    /// The columns that are counted, as far as that is known.
    pub(crate) fn columns(&self) -> Columns {
        self.columns.unwrap_or_default()
    }

    /// Whether a column is counted.
    pub(crate) fn counts(&self, column: Column) -> bool {
        self.columns().contains(column)
    }

    /// What was chosen, if contexts are values.
    pub(crate) fn chosen(&self) -> Option<&'static Chosen> {
        match self.tool {
            Some(Tool::Values(chosen)) => Some(chosen),
            _ => None,
        }
    }
}
