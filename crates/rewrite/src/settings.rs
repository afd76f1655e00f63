//! What the user chose.

use std::borrow::Cow;

use cct_columns::{Column, Columns};
use cct_flow::BlockRule;
use cct_jdk::Mode;
use cct_pcc::Chosen;
use cct_tables::CostModel;

/// What is counted beside calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metrics {
    /// Nothing.
    Calls,
    /// Executed bytecodes.
    CallsAndBytecodes,
}

/// What becomes of methods whose Java body HotSpot may replace by an intrinsic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intrinsics {
    /// The body is executed and counted, in a form that no intrinsic matches.
    Bytecode,
    /// The original is called, so that it may be replaced, and counted as a leaf without bytecodes.
    Native,
}

/// How native methods are represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Natives {
    /// By contexts of their own, below which their callbacks are (CCCP).
    Wrap,
    /// The same, by renaming them: a method with a body takes a native's place (JP2).
    Prefix,
    /// Not at all: callbacks are below the thread's root (JP).
    None,
}

/// How a callee gets its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextCarrier {
    /// As an argument, under an extended signature (JP, CCCP).
    Argument,
    /// In a field of the thread, into which the caller puts it; signatures stay (JP2).
    Thread,
}

/// What the rewritten program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// Its calling-context tree, with counts (JP, CCCP, JP2).
    Profile,
    /// Its events, in order (JBInsTrace).
    Trace,
    /// With which values of calling contexts chosen methods were entered (probabilistic calling contexts).
    Pcc(&'static Chosen),
}

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// What is left behind.
    pub tool: Tool,
    /// How contexts travel.
    pub context: ContextCarrier,
    /// Metrics.
    pub metrics: Metrics,
    /// How basic blocks are cut.
    pub blocks: BlockRule,
    /// What becomes of intrinsics.
    pub intrinsics: Intrinsics,
    /// How natives are represented.
    pub natives: Natives,
    /// Whether what differs from run to run is pinned ([`crate::pins`]).
    pub reproducible: bool,
    /// Whether the profiling agent reports while the program runs, by activation counters (JP 5).
    pub activation: bool,
    /// Whether contexts are told apart by the call sites in their callers (JP2).
    pub call_sites: bool,
    /// What bytecodes cost, where that is counted instead of their number (CCCP 5.2).
    pub cost_model: Option<&'static CostModel>,
    /// Whether objects and arrays are counted by type, below the context that makes them (CCCP 5.1).
    pub allocations: bool,
    /// What passes count beside calls and bytecodes.
    pub columns: Columns,
    /// Whether markers may stand in code beside what counts (MTF 3).
    pub markers: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tool: Tool::Profile,
            context: ContextCarrier::Argument,
            metrics: Metrics::CallsAndBytecodes,
            blocks: BlockRule::Exact,
            intrinsics: Intrinsics::Bytecode,
            natives: Natives::Wrap,
            reproducible: false,
            activation: false,
            call_sites: false,
            cost_model: None,
            allocations: false,
            columns: Columns::NONE,
            markers: false,
        }
    }
}

impl Settings {
    /// Name of the block rule; `none` where no bytecodes are counted.
    pub fn blocks_name(&self) -> Cow<'static, str> {
        match (self.metrics, self.blocks) {
            (Metrics::Calls, _) => "none".into(),
            (_, BlockRule::Default) => "default".into(),
            (_, BlockRule::Precise) => "precise".into(),
            (_, BlockRule::Exact) => "exact".into(),
            (_, BlockRule::Custom(ends)) => ends.id().into(),
        }
    }

    /// Name of the context carrier.
    pub fn context_name(&self) -> &'static str {
        match self.context {
            ContextCarrier::Argument => "argument",
            ContextCarrier::Thread => "thread",
        }
    }

    /// Name of the metrics.
    pub fn metrics_name(&self) -> Cow<'static, str> {
        match (self.metrics, self.cost_model) {
            (Metrics::Calls, _) => "calls".into(),
            (Metrics::CallsAndBytecodes, None) => "calls+bytecodes".into(),
            (Metrics::CallsAndBytecodes, Some(model)) => format!("calls+{}", model.unit()).into(),
        }
    }

    /// Name of the choice for intrinsics.
    pub fn intrinsics_name(&self) -> &'static str {
        match self.intrinsics {
            Intrinsics::Bytecode => "bytecode",
            Intrinsics::Native => "native",
        }
    }

    /// Name of how natives are represented.
    pub fn natives_name(&self) -> &'static str {
        match self.natives {
            Natives::Wrap => "wrap",
            Natives::Prefix => "prefix",
            Natives::None => "none",
        }
    }

    /// Whether the program's sources of chance are pinned, as `yes` or `no`.
    pub fn reproducible_name(&self) -> &'static str {
        yes_or_no(self.reproducible)
    }

    /// Whether there are activation counters, as `yes` or `no`.
    pub fn activation_name(&self) -> &'static str {
        yes_or_no(self.activation)
    }

    /// Whether call sites are told apart, as `yes` or `no`.
    pub fn call_sites_name(&self) -> &'static str {
        yes_or_no(self.call_sites)
    }

    /// Whether objects are counted, as `yes` or `no`.
    pub fn allocations_name(&self) -> &'static str {
        yes_or_no(self.allocations)
    }

    /// Whether a column is counted.
    pub fn counts(&self, column: Column) -> bool {
        self.tool == Tool::Profile && self.columns.contains(column)
    }

    /// What helpers and fields depend on.
    pub fn mode(&self) -> Mode {
        Mode {
            allocations: self.allocations,
            columns: self.tool == Tool::Profile && !self.columns.is_empty(),
            call_sites: self.call_sites,
            traces: self.traces(),
            values: self.pcc().is_some(),
        }
    }

    /// Whether events are recorded, in the place of counts.
    pub fn traces(&self) -> bool {
        self.tool == Tool::Trace
    }

    /// What was chosen, if contexts are values.
    pub fn pcc(&self) -> Option<&'static Chosen> {
        match self.tool {
            Tool::Pcc(chosen) => Some(chosen),
            _ => None,
        }
    }

    /// The same settings for values of contexts: nothing is counted, and call sites are what values are made of.
    #[must_use]
    pub fn of_values(self, chosen: &'static Chosen) -> Settings {
        Settings { tool: Tool::Pcc(chosen), metrics: Metrics::Calls, call_sites: true, ..self }
    }

    /// The rule by which bytecodes are counted, if they are.
    pub fn block_rule(&self) -> Option<BlockRule> {
        (self.metrics == Metrics::CallsAndBytecodes && !self.traces()).then_some(self.blocks)
    }
}

fn yes_or_no(choice: bool) -> &'static str {
    if choice { "yes" } else { "no" }
}
