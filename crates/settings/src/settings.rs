//! The settings of the rewriter.

use std::borrow::Cow;

use cct_columns::{Column, Columns};
use cct_jdk::Mode;
use cct_pcc::MethodChoice;
use cct_tables::{BlockRule, CostModel};

use crate::word::words;

/// The metrics in addition to calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metrics {
    /// Nothing.
    Calls,
    /// Executed bytecodes.
    CallsAndBytecodes,
}

words! { Metrics:
    Calls "calls" "Calls only";
    CallsAndBytecodes "bytecodes" "Calls and executed bytecodes";
}

/// Treatment of methods whose Java body HotSpot may replace with an intrinsic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intrinsics {
    /// The body is executed and counted, in a form that no intrinsic matches.
    Bytecode,
    /// The original is called, so that HotSpot may replace it, and counted as a leaf without
    /// bytecodes.
    Native,
}

words! { Intrinsics:
    Bytecode "bytecode" "Execute and count the Java body, except that of `Math.fma`: the same \
                         numbers on every JVM";
    Native "native" "Let HotSpot use its own code, and count the call without bytecodes: faster";
}

/// Representation of native methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Natives {
    /// By contexts of their own, which contain their callbacks (CCCP).
    Wrap,
    /// By contexts of their own, with natives renamed: a method with a body takes a native's name
    /// (JP2).
    Prefix,
    /// Not at all: callbacks appear below the thread's root (JP).
    None,
}

words! { Natives:
    Wrap "wrap" "Natives have their own contexts, with their callbacks below";
    Prefix "prefix" "As wrap, but natives are renamed, as in JP2 (2011). Needs --context thread \
                     and an agent in the JVM. See docs/reference/natives.md";
    None "none" "Natives have no contexts, as in JP (2005); their callbacks are below the thread's root";
}

/// The way in which a callee gets its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextCarrier {
    /// As an argument, under an extended signature (JP, CCCP).
    Argument,
    /// In a field of the thread, into which the caller puts it; signatures stay (JP2).
    Thread,
}

words! { ContextCarrier:
    Argument "argument" "As an extra argument, to a copy of the method with a longer signature: faster";
    Thread "thread" "In a field of the thread: signatures do not change";
}

/// The output of the rewritten program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The program's calling-context tree, with counts (JP, CCCP, JP2).
    Profile,
    /// The program's events, in order (JBInsTrace).
    Trace,
    /// The values of calling contexts at entries of chosen methods (probabilistic calling
    /// contexts).
    Pcc(&'static MethodChoice),
}

/// Settings of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// The output of the program.
    pub tool: Tool,
    /// The way in which callees get contexts.
    pub context: ContextCarrier,
    /// Metrics.
    pub metrics: Metrics,
    /// The rule that cuts basic blocks.
    pub blocks: BlockRule,
    /// Treatment of intrinsics.
    pub intrinsics: Intrinsics,
    /// Representation of natives.
    pub natives: Natives,
    /// Whether everything is pinned that differs between runs.
    pub reproducible: bool,
    /// Whether the profiling agent reports while the program runs, by activation counters (JP 5).
    pub activation: bool,
    /// Whether contexts are kept separate by the call sites in their callers (JP2).
    pub call_sites: bool,
    /// The costs of bytecodes, if they are counted instead of the number (CCCP 5.2).
    pub cost_model: Option<&'static CostModel>,
    /// Whether objects and arrays are counted by type, below the context that allocates them (CCCP
    /// 5.1).
    pub allocations: bool,
    /// The columns that passes count beside calls and bytecodes.
    pub columns: Columns,
    /// Whether counted code may have markers (MTF 3).
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
    /// Name of the block rule; `none` if no bytecodes are counted.
    pub fn blocks_name(&self) -> Cow<'static, str> {
        match self.metrics {
            Metrics::Calls => "none".into(),
            Metrics::CallsAndBytecodes => self.blocks.name(),
        }
    }

    /// Name of the metrics as outputs state it: `calls`, `calls+bytecodes`, `calls+UNIT`.
    pub fn metrics_name(&self) -> Cow<'static, str> {
        match (self.metrics, self.cost_model) {
            (Metrics::Calls, _) => "calls".into(),
            (Metrics::CallsAndBytecodes, None) => "calls+bytecodes".into(),
            (Metrics::CallsAndBytecodes, Some(model)) => format!("calls+{}", model.unit()).into(),
        }
    }

    /// Whether a column is counted.
    pub fn counts(&self, column: Column) -> bool {
        self.tool == Tool::Profile && self.columns.contains(column)
    }

    /// The settings on which helpers and fields of the runtime depend.
    pub fn mode(&self) -> Mode {
        Mode {
            allocations: self.allocations,
            columns: self.tool == Tool::Profile && !self.columns.is_empty(),
            call_sites: self.call_sites,
            traces: self.traces(),
            values: self.pcc().is_some(),
        }
    }

    /// Whether events are recorded instead of counts.
    pub fn traces(&self) -> bool {
        self.tool == Tool::Trace
    }

    /// The chosen methods, if values represent contexts.
    pub fn pcc(&self) -> Option<&'static MethodChoice> {
        match self.tool {
            Tool::Pcc(chosen) => Some(chosen),
            _ => None,
        }
    }

    /// These settings, changed for values of contexts: nothing is counted, and values are computed
    /// from call sites.
    #[must_use]
    pub fn of_values(self, chosen: &'static MethodChoice) -> Settings {
        Settings { tool: Tool::Pcc(chosen), metrics: Metrics::Calls, call_sites: true, ..self }
    }

    /// The rule for counting bytecodes, if they are counted.
    pub fn block_rule(&self) -> Option<BlockRule> {
        (self.metrics == Metrics::CallsAndBytecodes && !self.traces()).then_some(self.blocks)
    }
}
