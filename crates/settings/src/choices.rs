//! What a user asked for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cct_pcc::{Chosen, MethodPattern};

use crate::settings::{Settings, Tool};
use crate::word::words;

/// The flag that chooses what the program leaves behind.
pub(crate) const TOOL: &str = "tool";

/// What the program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    /// Its calling-context tree.
    Profile,
    /// Its events, in order.
    Trace,
    /// Nothing of its own: what clients of markers print.
    Markers,
    /// Values of calling contexts.
    Pcc,
}

words! { ToolName:
    Profile "profile" "Its calling-context tree";
    Trace "trace" "Its events in order: methods, basic blocks, classes (docs/research/trace.md)";
    Markers "markers" "Nothing of its own: what clients of markers print (docs/research/markers.md)";
    Pcc "pcc" "The values of calling contexts with which chosen methods were entered (docs/research/pcc.md)";
}

/// What a user asked for, by the options of [`crate::OPTIONS`].
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// Classes that the inputs refer to and that are not rewritten now.
    pub library: Vec<PathBuf>,
    /// What the program leaves behind.
    pub tool: ToolName,
    /// Files of rules for markers.
    pub markers: Vec<PathBuf>,
    /// Files or names of typestate properties.
    pub typestate: Vec<PathBuf>,
    /// The methods at whose entry values are recorded.
    pub pcc_at: Vec<MethodPattern>,
    /// The methods that take part in values.
    pub pcc_only: Vec<MethodPattern>,
    /// Globs of classes that are recorded.
    pub include: Vec<String>,
    /// Globs of classes that are not recorded.
    pub exclude: Vec<String>,
    /// The flags that the user gave, with whatever value.
    pub(crate) given: BTreeSet<&'static str>,
    /// The options that are settings of the rewriter as they stand. [`Choices::settings`] adds what
    /// follows from the others.
    pub(crate) direct: Settings,
}

impl Default for Choices {
    fn default() -> Self {
        Choices {
            library: Vec::new(),
            tool: ToolName::Profile,
            markers: Vec::new(),
            typestate: Vec::new(),
            pcc_at: Vec::new(),
            pcc_only: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            given: BTreeSet::new(),
            direct: Settings::default(),
        }
    }
}

impl Choices {
    /// The settings of the rewriter.
    pub fn settings(&self) -> Settings {
        let settings = Settings { markers: self.marks_beside(), ..self.direct };
        match self.tool {
            // With markers alone no class comes to the rewriter.
            ToolName::Profile | ToolName::Markers => settings,
            ToolName::Trace => Settings { tool: Tool::Trace, ..settings },
            ToolName::Pcc => {
                let chosen = Chosen { at: self.pcc_at.clone(), only: self.pcc_only.clone() };
                settings.of_values(chosen.interned())
            }
        }
    }

    /// These choices with what differs from run to run pinned.
    #[must_use]
    pub fn reproducibly(mut self) -> Choices {
        self.direct.reproducible = true;
        self
    }

    /// Notes that the user gave an option: with its default, too, it is what an image must have.
    pub fn note_given(&mut self, flag: &'static str) {
        self.given.insert(flag);
    }

    /// Whether there are rules or properties.
    pub fn has_rules(&self) -> bool {
        !self.markers.is_empty() || !self.typestate.is_empty()
    }

    /// Whether markers stand beside a calling-context tree.
    pub fn marks_beside(&self) -> bool {
        self.tool == ToolName::Profile && self.has_rules()
    }

    /// Whether there are markers and nothing else.
    pub fn marks_alone(&self) -> bool {
        self.tool == ToolName::Markers
    }

    /// Whether there are markers, and no property whose analysis receives their events.
    pub fn counts_markers(&self) -> bool {
        (self.marks_alone() || self.marks_beside()) && self.typestate.is_empty()
    }

    /// JVM properties that tell the runtime which classes are recorded of those that are rewritten
    /// at load time.
    pub fn filter_properties(&self) -> Vec<String> {
        let lists = [("include", &self.include), ("exclude", &self.exclude)];
        let given = lists.into_iter().filter(|(_, globs)| !globs.is_empty());
        given.map(|(name, globs)| format!("-Dcctrewrite.{name}={}", globs.join(","))).collect()
    }
}
