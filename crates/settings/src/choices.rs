//! The user's choices.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cct_pcc::{MethodChoice, MethodPattern};

use crate::settings::{Settings, Tool};
use crate::word::words;

/// The flag that chooses the output of the program.
pub(crate) const TOOL: &str = "tool";

/// The output of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolName {
    /// The program's calling-context tree.
    Profile,
    /// The program's events, in order.
    Trace,
    /// Nothing of its own: clients of markers print.
    Markers,
    /// Values of calling contexts.
    Pcc,
}

words! { ToolName:
    Profile "profile" "Its calling-context tree";
    Trace "trace" "Its events in order: methods, basic blocks, classes. See docs/research/trace.md";
    Markers "markers" "No file: only what marker clients print. See docs/research/markers.md";
    Pcc "pcc" "The context values at entries of chosen methods. See docs/research/pcc.md";
}

/// The user's choices for the options of [`crate::OPTIONS`].
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// Classes to which the inputs refer and that this run does not rewrite.
    pub library: Vec<PathBuf>,
    /// The output of the program.
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
    /// The flags that the user gave, with any value.
    pub(crate) given: BTreeSet<&'static str>,
    /// The options that are settings of the rewriter themselves. [`Choices::settings`] adds the
    /// settings that follow from the others.
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
            // With markers alone the rewriter gets no class.
            ToolName::Profile | ToolName::Markers => settings,
            ToolName::Trace => Settings { tool: Tool::Trace, ..settings },
            ToolName::Pcc => {
                let chosen = MethodChoice { at: self.pcc_at.clone(), only: self.pcc_only.clone() };
                settings.of_values(chosen.interned())
            }
        }
    }

    /// These choices, with everything pinned that differs between runs.
    #[must_use]
    pub fn reproducibly(mut self) -> Choices {
        self.direct.reproducible = true;
        self
    }

    /// Notes that the user gave an option: even with its default, an image must have it.
    pub fn note_given(&mut self, flag: &'static str) {
        self.given.insert(flag);
    }

    /// Whether there are rules or properties.
    pub fn has_rules(&self) -> bool {
        !self.markers.is_empty() || !self.typestate.is_empty()
    }

    /// Whether markers are combined with a calling-context tree.
    pub fn marks_beside(&self) -> bool {
        self.tool == ToolName::Profile && self.has_rules()
    }

    /// Whether there are only markers.
    pub fn marks_alone(&self) -> bool {
        self.tool == ToolName::Markers
    }

    /// Whether there are markers, and no property whose analysis receives their events.
    pub fn counts_markers(&self) -> bool {
        (self.marks_alone() || self.marks_beside()) && self.typestate.is_empty()
    }

    /// JVM properties that select the recorded classes among those that are rewritten at load time.
    pub fn filter_properties(&self) -> Vec<String> {
        let lists = [("include", &self.include), ("exclude", &self.exclude)];
        let given = lists.into_iter().filter(|(_, globs)| !globs.is_empty());
        given.map(|(name, globs)| format!("-Dcctrewrite.{name}={}", globs.join(","))).collect()
    }
}
