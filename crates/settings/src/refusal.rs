//! Why options do not go together.

use crate::choices::ToolName;
use crate::word::Worded;

/// Options that do not go together, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    pub(crate) fn new(message: String) -> Refused {
        Refused(message)
    }
}

/// A tool that refuses an option.
#[derive(Debug, Clone, Copy)]
pub struct Refusal {
    /// The tool.
    pub tool: ToolName,
    /// Why, if it is not for the tool's usual reason.
    pub reason: Option<&'static str>,
}

impl Refusal {
    /// For the tool's usual reason.
    pub(crate) const fn by(tool: ToolName) -> Refusal {
        Refusal { tool, reason: None }
    }

    /// For this reason.
    pub(crate) const fn because(tool: ToolName, reason: &'static str) -> Refusal {
        Refusal { tool, reason: Some(reason) }
    }

    /// The message for an option, and what to leave out.
    pub(crate) fn message(&self, flag: &str) -> String {
        if let Some(reason) = self.reason {
            return reason.to_owned();
        }
        let reason = match self.tool {
            ToolName::Profile => "which is about another tool",
            ToolName::Trace => {
                "which is about what a profile counts (count with `cctrewrite trace contexts`)"
            }
            ToolName::Markers => "which is about what a profile has (the rules say what is marked)",
            ToolName::Pcc => "which is about trees and what is counted in them",
        };
        let tool = self.tool.name();
        format!("--tool {tool} does not go together with --{flag}, {reason}; leave --{flag} out")
    }
}
