//! The options, one row each.

use std::path::PathBuf;

use cct_columns::Column;
use cct_pcc::MethodPattern;
use cct_tables::CostModel;

use crate::access::Access;
use crate::choices::{Choices, TOOL, ToolName};
use crate::heading::Heading;
use crate::record::{
    Record, read_blocks, read_columns, read_costs, read_markers, read_metrics, read_tool, write_blocks,
    write_columns, write_costs, write_markers, write_tool,
};
use crate::refusal::Refusal;
use crate::settings::{ContextCarrier, Intrinsics, Metrics, Natives};
use crate::tables::{block_rule, cost_model};
use crate::word::NamedValues;

/// An option that decides how classes are rewritten.
#[derive(Debug)]
pub struct ChoiceOption {
    /// Name without the dashes.
    pub flag: &'static str,
    /// Text for `--help`; `-h` shows its first sentence alone.
    pub help: &'static str,
    /// The heading below which `--help` lists it.
    pub heading: Heading,
    /// Whether `-h` lists it too.
    pub is_common: bool,
    /// Whether `bench` has it: the option works for results in the form of a calling-context tree.
    pub in_bench: bool,
    /// The kind of its value, with access to it.
    pub access: Access,
    /// Tools that refuse it.
    pub refused: &'static [Refusal],
    /// The reason why it cannot be combined with the other choices, if there is one.
    pub conflict: fn(&Choices) -> Option<&'static str>,
    /// The option's record in the provenance of outputs.
    pub record: Record,
    pub(crate) spelled: SpellingCondition,
}

/// The condition on which [`Choices::spelled`] includes an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpellingCondition {
    /// Always, with its default too.
    Always,
    /// If its value is not its default.
    IfGiven,
    /// With `--tool pcc`.
    WithValues,
    /// Never: it names files, whose contents matter.
    Never,
}

impl ChoiceOption {
    /// Whether its value is not its default.
    pub fn is_given(&self, choices: &Choices) -> bool {
        let default = Choices::default();
        match self.access {
            Access::Switch { get, .. } => get(choices),
            Access::OneOf { get, .. } => get(choices) != get(&default),
            Access::Table { get, .. } => get(choices) != get(&default),
            Access::List { get, .. } => !get(choices).is_empty(),
        }
    }

    /// The default, if there is one that is a word.
    pub fn default(&self) -> Option<&'static str> {
        match self.access {
            Access::OneOf { words, get, .. } => words.get(get(&Choices::default())).map(|word| word.name),
            Access::Table { default, .. } => default,
            Access::Switch { .. } | Access::List { .. } => None,
        }
    }
}

/// A switch that is a field of the settings.
macro_rules! switch {
    ($field:ident) => {
        Access::Switch { get: |choices| choices.direct.$field, set: |choices| choices.direct.$field = true }
    };
}

/// A switch that counts a column.
macro_rules! column {
    ($column:ident) => {
        Access::Switch {
            get: |choices| choices.direct.columns.contains(Column::$column),
            set: |choices| choices.direct.columns = choices.direct.columns.with(Column::$column),
        }
    };
}

/// A choice of words that is a field: of the choices, or of the settings.
macro_rules! one_of {
    ($type:ty, $($field:ident).+) => {
        Access::OneOf {
            words: <$type>::WORDS,
            get: |choices| choices.$($field).+.index(),
            set: |choices, index| {
                if let Some(value) = <$type>::VALUES.get(index) {
                    choices.$($field).+ = *value;
                }
            },
        }
    };
}

/// A list of paths.
macro_rules! paths {
    ($field:ident, $value:literal) => {
        Access::List {
            value: $value,
            get: |choices| choices.$field.iter().map(|path| path.display().to_string()).collect(),
            push: |choices, text| {
                choices.$field.push(PathBuf::from(text));
                Ok(())
            },
        }
    };
}

/// A list of patterns over classes.
macro_rules! globs {
    ($field:ident) => {
        Access::List {
            value: "GLOB",
            get: |choices| choices.$field.clone(),
            push: |choices, text| {
                choices.$field.push(text.to_owned());
                Ok(())
            },
        }
    };
}

/// A list of patterns over methods.
macro_rules! methods {
    ($field:ident) => {
        Access::List {
            value: "METHODS",
            get: |choices| choices.$field.iter().map(|pattern| pattern.text().to_owned()).collect(),
            push: |choices, text| {
                choices.$field.push(MethodPattern::parse(text).map_err(|e| e.to_string())?);
                Ok(())
            },
        }
    };
}

/// An option that can be combined with everything and is not recorded; rows state only differences.
const PLAIN: ChoiceOption = ChoiceOption {
    flag: "",
    help: "",
    heading: Heading::Advanced,
    is_common: false,
    in_bench: false,
    access: Access::Switch { get: |_| false, set: |_| () },
    refused: &[],
    conflict: |_| None,
    record: Record::No,
    spelled: SpellingCondition::IfGiven,
};

use ToolName::{Markers, Pcc, Profile, Trace};

/// The tools that count nothing while the program runs.
const ALL_BUT_PROFILES: &[Refusal] = &[Refusal::by(Trace), Refusal::by(Pcc), Refusal::by(Markers)];

/// An option that counts a column. Its flag is the column's name.
const OF_COLUMN: ChoiceOption = ChoiceOption {
    heading: Heading::Recording,
    in_bench: true,
    refused: ALL_BUT_PROFILES,
    record: Record::With { keys: &["columns"], write: write_columns, read: read_columns },
    ..PLAIN
};

const NOT_BESIDE: &str = "markers work with a calling-context tree or alone (--tool markers), not \
                          with another tool; leave --tool out, or --markers and --typestate";

const NOT_VALUES: &str = "--pcc-at and --pcc-only need --tool pcc; add it, or leave them out";

/// The tools that record no values.
const ALL_BUT_VALUES: &[Refusal] =
    &[Refusal::because(Profile, NOT_VALUES), Refusal::because(Trace, NOT_VALUES), Refusal::by(Markers)];

/// The tools with which no markers can be combined.
const TOOLS_WITHOUT_MARKERS: &[Refusal] =
    &[Refusal::because(Trace, NOT_BESIDE), Refusal::because(Pcc, NOT_BESIDE)];

/// All options, in the order of `--help`.
pub const OPTIONS: &[ChoiceOption] = &[
    ChoiceOption {
        flag: "library",
        heading: Heading::Image,
        help: "Classes that the inputs use and that this run does not rewrite (repeatable). PATH \
               is a jar, a folder, an image or the home of a JDK, original or instrumented",
        access: paths!(library, "PATH"),
        spelled: SpellingCondition::Never,
        ..PLAIN
    },
    ChoiceOption {
        flag: TOOL,
        heading: Heading::Output,
        is_common: true,
        help: "The output of the program",
        access: one_of!(ToolName, tool),
        record: Record::With {
            keys: &["trace", "pcc", "pcc-at", "pcc-only"],
            write: write_tool,
            read: read_tool,
        },
        ..PLAIN
    },
    ChoiceOption {
        flag: "markers",
        heading: Heading::Markers,
        is_common: true,
        help: "Rules file: the code locations at which marker clients are called (repeatable). See \
               docs/research/markers.md. With --tool markers there is no profile; without it, \
               markers and a calling-context tree are recorded together",
        access: paths!(markers, "FILE.toml"),
        refused: TOOLS_WITHOUT_MARKERS,
        record: Record::With { keys: &["markers"], write: write_markers, read: read_markers },
        spelled: SpellingCondition::Never,
        ..PLAIN
    },
    ChoiceOption {
        flag: "typestate",
        heading: Heading::Typestate,
        is_common: true,
        help: "Properties file: in which order an object's methods may be called (repeatable). It \
               is a file or the name of a built-in property. See docs/research/typestate.md. With \
               --tool markers there is no profile; without it, properties are checked and a \
               calling-context tree is recorded",
        access: paths!(typestate, "FILE.toml"),
        refused: TOOLS_WITHOUT_MARKERS,
        spelled: SpellingCondition::Never,
        ..PLAIN
    },
    ChoiceOption {
        flag: "pcc-at",
        heading: Heading::Values,
        help: "With --tool pcc: record context values at the entry of these methods (repeatable). \
               METHODS is a glob over classes as for --include, a dot, a glob over methods, and \
               optionally a descriptor: `java.util.HashMap.resize`, `com.acme.**.*`",
        access: methods!(pcc_at),
        refused: ALL_BUT_VALUES,
        spelled: SpellingCondition::WithValues,
        ..PLAIN
    },
    ChoiceOption {
        flag: "pcc-only",
        heading: Heading::Values,
        help: "With --tool pcc: compute context values from these methods only (repeatable). Other \
               methods pass on the value of their caller",
        access: methods!(pcc_only),
        refused: ALL_BUT_VALUES,
        spelled: SpellingCondition::WithValues,
        ..PLAIN
    },
    ChoiceOption {
        flag: "context",
        heading: Heading::Counting,
        in_bench: true,
        help: "How a caller passes the calling context to its callee",
        access: one_of!(ContextCarrier, direct.context),
        refused: &[
            Refusal::because(
                Trace,
                "--tool trace cannot be combined with --context thread: methods pass the thread's \
                 buffer as an argument. Leave --context out",
            ),
            Refusal::by(Pcc),
            Refusal::by(Markers),
        ],
        record: Record::Word("context"),
        spelled: SpellingCondition::Always,
        ..PLAIN
    },
    ChoiceOption {
        flag: "metrics",
        heading: Heading::Counting,
        in_bench: true,
        help: "What is counted",
        access: one_of!(Metrics, direct.metrics),
        refused: ALL_BUT_PROFILES,
        record: Record::With {
            keys: &["metrics"],
            write: |settings| vec![("metrics", settings.metrics_name().into_owned())],
            read: read_metrics,
        },
        spelled: SpellingCondition::Always,
        ..PLAIN
    },
    ChoiceOption {
        flag: "blocks",
        heading: Heading::Counting,
        in_bench: true,
        help: "How bytecodes are counted. `exact`: counts no bytecode that did not start; adds \
               counts up in a local variable, and writes them to the tree before anything can read \
               it. `precise`: the same numbers, written to the tree block by block, as in the \
               papers; slower. `default`: the papers' default; counts a block whole when it \
               begins, even if an exception leaves it half-way. A table of block ends is a file \
               NAME.toml (docs/reference/blocks.md) or built-in: `calls`, `like-default`, \
               `like-precise`",
        access: Access::Table {
            value: "RULE|FILE.toml",
            default: Some("exact"),
            get: |choices| Some(choices.direct.blocks.name().into_owned()),
            set: |choices, given, read| {
                choices.direct.blocks = block_rule(given, read)?;
                Ok(())
            },
        },
        refused: ALL_BUT_PROFILES,
        record: Record::With { keys: &["blocks", "block-ends"], write: write_blocks, read: read_blocks },
        spelled: SpellingCondition::Always,
        ..PLAIN
    },
    ChoiceOption {
        flag: "intrinsics",
        heading: Heading::Counting,
        in_bench: true,
        help: "Treatment of intrinsics: methods whose Java body HotSpot may replace with its own \
               code, such as `Math.max`",
        access: one_of!(Intrinsics, direct.intrinsics),
        refused: &[Refusal::by(Markers)],
        record: Record::Word("intrinsics"),
        spelled: SpellingCondition::Always,
        ..PLAIN
    },
    ChoiceOption {
        flag: "natives",
        heading: Heading::Counting,
        in_bench: true,
        help: "Representation of native methods",
        access: one_of!(Natives, direct.natives),
        refused: ALL_BUT_PROFILES,
        conflict: |choices| {
            let is_wrong = choices.direct.natives == Natives::Prefix
                && choices.direct.context == ContextCarrier::Argument;
            is_wrong.then_some(
                "--natives prefix needs --context thread: the method in the native's place reads \
                 its context from the thread. Add --context thread, or leave --natives prefix out",
            )
        },
        record: Record::Word("natives"),
        spelled: SpellingCondition::Always,
        ..PLAIN
    },
    ChoiceOption {
        flag: "reproducible",
        heading: Heading::Counting,
        is_common: true,
        help: "Pin what differs from run to run, such as seeds of random numbers. A deterministic \
               program then gives the same profile each time. The class library must be rewritten \
               with this option, too; `flags` prints the JVM options that it needs",
        access: switch!(reproducible),
        refused: &[Refusal::by(Markers)],
        record: Record::Word("reproducible"),
        ..PLAIN
    },
    ChoiceOption {
        flag: "activation-counters",
        heading: Heading::Advanced,
        help: "Insert activation counters, which a profiling agent (-Dcctrewrite.agent=...) needs \
               to report while the program runs. Slower",
        access: switch!(activation),
        refused: ALL_BUT_PROFILES,
        record: Record::Word("activation"),
        ..PLAIN
    },
    ChoiceOption {
        flag: "call-sites",
        heading: Heading::Recording,
        is_common: true,
        help: "Keep a separate context for each call site. A method that a caller calls from two \
               places has two contexts there. All outputs that run together must be made with or \
               without this option",
        access: switch!(call_sites),
        refused: &[
            Refusal::by(Trace),
            Refusal::because(Pcc, "--tool pcc always distinguishes call sites; leave --call-sites out"),
            Refusal::by(Markers),
        ],
        record: Record::Word("call-sites"),
        ..PLAIN
    },
    ChoiceOption {
        flag: "cost-model",
        heading: Heading::Counting,
        in_bench: true,
        help: "Count the cost of bytecodes instead of their number. The model is built-in (`jop`: \
               cycles of the Java processor JOP; `unit`: 1 each) or a file NAME.toml \
               (docs/research/cost-models.md). The JVM's own threads are not recorded, except with \
               `run --system-threads`",
        access: Access::Table {
            value: "NAME|FILE.toml",
            default: None,
            get: |choices| choices.direct.cost_model.map(CostModel::id),
            set: |choices, given, read| {
                choices.direct.cost_model = Some(cost_model(given, read)?);
                Ok(())
            },
        },
        refused: ALL_BUT_PROFILES,
        conflict: |choices| {
            let is_wrong = choices.direct.cost_model.is_some() && choices.direct.metrics == Metrics::Calls;
            is_wrong.then_some(
                "--cost-model needs bytecodes, which --metrics calls does not count; leave one of the two out",
            )
        },
        record: Record::With { keys: &["cost-model", "costs"], write: write_costs, read: read_costs },
        ..PLAIN
    },
    ChoiceOption {
        flag: "allocations",
        heading: Heading::Recording,
        is_common: true,
        help: "Count objects and arrays by type, below the context that allocates them. Reports \
               and exports show them with `--metric allocations`. With `--tool trace`: record \
               allocations with types and lengths, and monitors with their objects. All outputs \
               that run together must be made with or without this option",
        access: switch!(allocations),
        refused: &[Refusal::by(Pcc), Refusal::by(Markers)],
        record: Record::Word("allocations"),
        ..PLAIN
    },
    ChoiceOption {
        flag: "monitors",
        help: "Count entries into monitors in each context: executed `monitorenter`s and calls of \
               synchronized methods (docs/use/monitors.md). Reports and exports show them with \
               `--metric monitors`. All outputs that run together must be made with or without \
               this option",
        access: column!(Monitors),
        ..OF_COLUMN
    },
    ChoiceOption {
        flag: "throws",
        help: "Count executed `athrow` instructions in each context (docs/use/throws.md). Reports and \
               exports show them with `--metric throws`. All outputs that run together must be made \
               with or without this option",
        access: column!(Throws),
        ..OF_COLUMN
    },
    ChoiceOption {
        flag: "include",
        heading: Heading::Recording,
        in_bench: true,
        help: "Record only classes that match, such as `java/util/**` (repeatable). GLOB is over \
               names with slashes or dots. Other classes pass contexts on",
        access: globs!(include),
        refused: &[Refusal::by(Markers)],
        ..PLAIN
    },
    ChoiceOption {
        flag: "exclude",
        heading: Heading::Recording,
        in_bench: true,
        help: "Do not record classes that match (repeatable); overrides --include",
        access: globs!(exclude),
        refused: &[Refusal::by(Markers)],
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_the_default_that_they_name() {
        for row in OPTIONS {
            if let Access::Table { default, get, .. } = row.access {
                assert_eq!(get(&Choices::default()).as_deref(), default, "{}", row.flag);
            }
        }
    }
}
