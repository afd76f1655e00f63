//! The view of a method that all passes share.

use cct_classfile::edit::frames::Signature;
use cct_classfile::{Bci, ClassFile, Code, Member};
use cct_columns::Column;
use cct_events::structure::Recording;
use cct_flow::OwnMembers;
use cct_jdk::pins::Clock;
use cct_tables::BlockRule;

use crate::allocation::Allocation;
use crate::carrier::Sites;
use crate::pcc::Part;
use crate::plan::CallTarget;
use crate::report::Fallback;
use cct_settings::Settings;

/// The facts about a method before its bodies are written.
#[derive(Debug)]
pub struct MethodContext<'m, 'a> {
    /// The class of the method.
    pub class: &'m ClassFile<'a>,
    /// References of the class to its own members; filled only for exact bytecode counts and for
    /// traces.
    pub own: &'m OwnMembers,
    /// The method.
    pub member: &'m Member<'a>,
    /// Position of the method among those of the class.
    pub position: usize,
    /// The method's code.
    pub code: &'m Code<'a>,
    /// The method's original signature.
    pub signature: &'m Signature<'a>,
    /// The method's descriptor with the extension.
    pub extended_descriptor: &'m [u8],
    /// The options of the run.
    pub settings: &'m Settings,
    /// Whether the class is recorded.
    pub recorded: bool,
    /// The target of each call site, in code order.
    pub calls: &'m [(Bci, CallTarget<'m>)],
    /// Instructions that allocate, in code order; empty unless objects are counted.
    pub allocations: &'m [Allocation],
    /// The columns that passes count in this code, beside calls and bytecodes.
    pub columns: &'m [Column],
    /// Site number of the first column. Sites are numbered: calls first, then allocations, then
    /// columns.
    pub first_column: usize,
    /// How call sites, allocations and columns share the slots of a node.
    pub sites: Sites,
    /// The method's number in a trace; `None` unless the run records events.
    pub number: Option<u32>,
    /// The method's part in values of contexts; `None` unless values represent contexts.
    pub part: Option<Part>,
    /// Calls and reads whose results are replaced, in code order.
    pub pinned: Vec<(Bci, Clock)>,
    /// Whether locals get a name if the debug tables have none.
    pub names_locals: bool,
    /// Number of locals in which markers keep objects; `None` if the method has no markers.
    pub marker_tokens: Option<u16>,
    /// Whether the method is an extent: recording begins and ends with its body under the original
    /// signature.
    pub is_extent: bool,
    /// Whether everything is recorded from the method's first entry on.
    pub is_start: bool,
    /// Whether a jump or a handler leads to bci 0.
    pub entry_is_target: bool,
    /// Whether a body that takes its context from the thread keeps that thread in a local.
    pub holds_thread: bool,
}

impl MethodContext<'_, '_> {
    /// Whether a jump or a handler of this code leads to bci 0.
    pub fn entry_is_target(code: &Code<'_>) -> bool {
        code.targets.contains(0) || code.handlers.iter().any(|h| h.handler == 0)
    }
}

/// The amount of instrumentation in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The rule for counting bytecodes; `None` if they are not counted.
    pub blocks: Option<BlockRule>,
    /// The amount that a trace records.
    pub recording: Recording,
    /// Whether objects and columns are counted.
    pub objects: bool,
    /// The fallback that the report names for this level; `None` for full instrumentation.
    pub fallback: Option<Fallback>,
}

impl Level {
    /// The levels to try, each smaller than the one before. The settings decide the first.
    /// `allocates` is whether objects or columns are counted in the method.
    pub fn all(settings: &Settings, allocates: bool) -> impl Iterator<Item = Level> {
        let planned = settings.block_rule();
        let as_planned = Level { blocks: planned, recording: Recording::Full, objects: true, fallback: None };
        let has_simpler_blocks = match planned {
            Some(rule) => rule != BlockRule::Default,
            None => settings.traces(),
        };
        let default_blocks = has_simpler_blocks.then_some(Level {
            blocks: planned.map(|_| BlockRule::Default),
            recording: Recording::Blocks,
            fallback: Some(Fallback::DefaultBlocks),
            ..as_planned
        });
        let calls_only = Level {
            blocks: None,
            recording: Recording::Calls,
            fallback: Some(Fallback::CallsOnly),
            ..as_planned
        };
        let without_objects = allocates.then_some(Level {
            objects: false,
            fallback: Some(Fallback::CallsWithoutObjects),
            ..calls_only
        });
        [Some(as_planned), default_blocks, Some(calls_only), without_objects].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_settings::{Metrics, Tool};

    #[test]
    fn each_level_has_less_than_the_one_before() {
        let fallbacks = |settings: Settings, allocates| {
            Level::all(&settings, allocates).map(|level| level.fallback).collect::<Vec<_>>()
        };
        let exact = Settings::default();
        let all = [
            None,
            Some(Fallback::DefaultBlocks),
            Some(Fallback::CallsOnly),
            Some(Fallback::CallsWithoutObjects),
        ];
        assert_eq!(fallbacks(exact, true), all);
        assert_eq!(fallbacks(exact, false), all[..3]);
        let default = Settings { blocks: BlockRule::Default, ..exact };
        assert_eq!(fallbacks(default, false), [None, Some(Fallback::CallsOnly)]);
        let calls = Settings { metrics: Metrics::Calls, ..exact };
        assert_eq!(fallbacks(calls, false), [None, Some(Fallback::CallsOnly)]);
        let trace = Settings { tool: Tool::Trace, ..exact };
        assert_eq!(fallbacks(trace, false), all[..3]);
        assert!(Level::all(&trace, true).all(|level| level.blocks.is_none()));
    }
}
