//! Refusals of combinations of options.

use crate::choices::ToolName;
use crate::word::NamedValues;

/// A combination of options that is refused, with advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RefusedOptions(String);

impl RefusedOptions {
    pub(crate) fn new(message: String) -> RefusedOptions {
        RefusedOptions(message)
    }
}

/// A tool that refuses an option.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// The tool.
    pub tool: ToolName,
    /// The reason, if it is not the tool's usual one.
    pub reason: Option<&'static str>,
}

impl Refusal {
    /// A refusal for the tool's usual reason.
    pub(crate) const fn by(tool: ToolName) -> Refusal {
        Refusal { tool, reason: None }
    }

    /// A refusal for this reason.
    pub(crate) const fn because(tool: ToolName, reason: &'static str) -> Refusal {
        Refusal { tool, reason: Some(reason) }
    }

    /// The message for an option, with the option to omit.
    pub(crate) fn message(&self, flag: &str) -> String {
        if let Some(reason) = self.reason {
            return reason.to_owned();
        }
        let reason = match self.tool {
            ToolName::Profile => "which belongs to another tool",
            ToolName::Trace => "which decides what a profile counts (`cctrewrite trace contexts` counts)",
            ToolName::Markers => "which decides what a profile contains (the rules say what is marked)",
            ToolName::Pcc => "which decides what a tree contains",
        };
        let tool = self.tool.name();
        format!("--tool {tool} cannot be combined with --{flag}, {reason}; leave --{flag} out")
    }
}
