//! The known facts about the rewriting of a class.

use cct_columns::{Column, Columns};
use cct_pcc::MethodChoice;
use cct_settings::{ContextCarrier, Metrics, Natives, Settings, UnknownSettings, settings};
use cct_tables::{BlockEnds, BlockRule, CostModel};
use xxhash_rust::xxh3::xxh3_64;

use crate::rule::Rule;

/// The output of the rewritten program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// A profile.
    Profile,
    /// The values of calling contexts at entries of chosen methods (docs/research/pcc.md).
    Values(&'static MethodChoice),
    /// The program's events, in order (docs/research/trace.md).
    Trace,
    /// The reports of markers' clients (docs/research/markers.md).
    Markers,
}

/// The known facts about the rewriting of a class. Unknown facts are inferred, as far as one class
/// shows them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The output of the rewritten program.
    pub tool: Option<Tool>,
    /// The rule by which bytecodes are counted.
    pub rule: Option<Rule>,
    /// Whether results of clocks may be replaced.
    pub reproducible: Option<bool>,
    /// Whether call sites are kept separate.
    pub call_sites: Option<bool>,
    /// Whether only contexts are in a field of the thread.
    pub by_thread: Option<bool>,
    /// The table of instructions that end blocks, if there is one; it replaces [`Rule::Precise`].
    pub block_ends: Option<&'static BlockEnds>,
    /// The cost model of bytecodes; `None` if each counts one.
    pub cost_model: Option<&'static CostModel>,
    /// Whether objects are counted.
    pub allocations: Option<bool>,
    /// The columns that are counted beside calls and bytecodes.
    pub columns: Option<Columns>,
    /// Whether natives are not represented.
    pub no_natives: Option<bool>,
    /// Whether natives may have been renamed.
    pub renames_natives: Option<bool>,
    /// Whether counted bodies may have markers.
    pub markers: Option<bool>,
    /// Whether wrappers name their parameters. They do not if the same run rewrote the class
    /// library.
    pub parameter_names: Option<bool>,
    /// Hash of the provenance lines, which each class names.
    pub provenance: Option<u64>,
}

impl Expectation {
    /// The expectation that follows from an output's provenance lines
    /// (docs/reference/formats/index.md).
    ///
    /// # Errors
    /// If this version does not know a setting.
    pub fn of(provenance: &str) -> Result<Self, UnknownSettings> {
        let settings = Settings::of_entries(provenance)?;
        Ok(Expectation { provenance: Some(xxh3_64(provenance.as_bytes())), ..Expectation::from(&settings) })
    }

    /// The columns that are counted, as far as known.
    pub(crate) fn columns(&self) -> Columns {
        self.columns.unwrap_or_default()
    }

    /// Whether a column is counted.
    pub(crate) fn counts(&self, column: Column) -> bool {
        self.columns().contains(column)
    }

    /// The chosen methods, if values represent contexts.
    pub(crate) fn chosen(&self) -> Option<&'static MethodChoice> {
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
