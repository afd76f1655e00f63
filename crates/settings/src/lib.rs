//! The options that decide how classes are rewritten, each declared once.
//!
//! A row of [`OPTIONS`] holds an option's flag, values, default and help, the tools that refuse it, and how outputs record it. The command line,
//! [`Settings`], the provenance of outputs, the checker's expectation and docs/reference/options.md come from these rows.
//!
//! * [`settings`]: what the rewriter acts on,
//! * [`choices`]: what a user asked for, by option,
//! * [`heading`]: where `--help` lists them,
//! * [`options`]: the rows,
//! * [`mod@record`]: settings in the provenance of outputs,
//! * [`recording`]: options that the runtime acts on,
//! * [`page`]: their reference for users,
//! * [`refusal`]: combinations that mean nothing,
//! * [`tables`]: values that are built-in tables or files,
//! * [`word`]: values with names.
//!
//! Opens no file and knows no class.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod choices;
pub mod heading;
pub mod options;
pub mod page;
pub mod record;
pub mod recording;
pub mod refusal;
pub mod settings;
pub mod tables;
pub mod word;

pub use choices::{Choices, ToolName};
pub use heading::Heading;
pub use options::{Access, ChoiceOption, OPTIONS, ReadFile};
pub use record::UnknownSettings;
pub use recording::{Kind, RECORDING, Recording, RecordingOption};
pub use refusal::Refused;
pub use settings::{ContextCarrier, Intrinsics, Metrics, Natives, Settings, Tool};
pub use word::{Word, Worded};
