//! What is known of how a class was rewritten.

use cct_columns::{Column, Columns};
use cct_pcc::Chosen;
use cct_settings::{ContextCarrier, Metrics, Natives, Settings, UnknownSettings, settings};
use cct_tables::{BlockEnds, BlockRule, CostModel};
use xxhash_rust::xxh3::xxh3_64;

use crate::rule::Rule;

/// What the rewritten program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// A profile.
    Profile,
    /// With which values of calling contexts methods that were chosen were entered
    /// (docs/research/pcc.md).
    Values(&'static Chosen),
    /// Its events, in order (docs/research/trace.md).
    Trace,
    /// What clients of markers say (docs/research/markers.md).
    Markers,
}

/// What is known of how a class was rewritten. What is not known is found out, as far as one class
/// tells.
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
    /// Whether wrappers name their parameters: not where the class library was rewritten in the
    /// same run.
    pub parameter_names: Option<bool>,
    /// Hash of the lines that say so, which each class names.
    pub provenance: Option<u64>,
}

impl Expectation {
    /// The expectation that follows from an output's provenance lines
    /// (docs/reference/formats/index.md).
    ///
    /// # Errors
    /// Settings that this version does not know.
    pub fn of(provenance: &str) -> Result<Self, UnknownSettings> {
        let settings = Settings::of_entries(provenance)?;
        Ok(Expectation { provenance: Some(xxh3_64(provenance.as_bytes())), ..Expectation::from(&settings) })
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

impl From<&Settings> for Expectation {
    fn from(settings: &Settings) -> Self {
        let (rule, block_ends) = match (settings.metrics, settings.blocks) {
            (Metrics::Calls, _) => (Rule::None, None),
            (Metrics::CallsAndBytecodes, BlockRule::Exact) => (Rule::Exact, None),
            (Metrics::CallsAndBytecodes, BlockRule::Precise) => (Rule::Precise, None),
            (Metrics::CallsAndBytecodes, BlockRule::Default) => (Rule::Default, None),
            (Metrics::CallsAndBytecodes, BlockRule::Custom(ends)) => (Rule::Precise, Some(ends)),
        };
        let tool = match settings.tool {
            settings::Tool::Profile => Tool::Profile,
            settings::Tool::Trace => Tool::Trace,
            settings::Tool::Pcc(chosen) => Tool::Values(chosen),
        };
        Expectation {
            tool: Some(tool),
            rule: Some(rule),
            reproducible: Some(settings.reproducible),
            call_sites: Some(settings.call_sites),
            by_thread: Some(settings.context == ContextCarrier::Thread),
            block_ends,
            cost_model: settings.cost_model,
            allocations: Some(settings.allocations),
            columns: Some(settings.columns),
            no_natives: Some(settings.natives == Natives::None),
            renames_natives: Some(settings.natives == Natives::Prefix),
            markers: Some(settings.markers),
            parameter_names: None,
            provenance: None,
        }
    }
}
