//! The options that decide how classes are rewritten, each declared once.
//!
//! A row of [`OPTIONS`] holds an option's flag, values, default and help, the tools that refuse it,
//! and its record in outputs. The command line, [`Settings`], the provenance of outputs, the
//! checker's expectation and docs/reference/options.md follow from these rows.
//!
//! * [`settings`]: the settings of the rewriter,
//! * [`choices`]: the user's choices; `check` refuses combinations, `spelled` writes them as on a
//!   command line,
//! * [`options`]: the rows; [`access`], [`heading`], [`refusal`] and [`mod@record`] are their
//!   columns,
//! * `provenance`: settings in the provenance of outputs,
//! * [`recording`]: options of the runtime,
//! * [`page`]: the reference for users,
//! * [`tables`]: values that are built-in tables or files,
//! * [`word`]: values with names.
//!
//! Opens no file and knows no class.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod access;
mod check;
pub mod choices;
pub mod heading;
pub mod options;
pub mod page;
mod provenance;
pub mod record;
pub mod recording;
pub mod refusal;
pub mod settings;
mod spelled;
pub mod tables;
pub mod word;

pub use access::Access;
pub use choices::{Choices, ToolName};
pub use heading::Heading;
pub use options::{ChoiceOption, OPTIONS};
pub use provenance::UnknownSettings;
pub use recording::{Kind, RECORDING, Recording, RecordingOption};
pub use refusal::RefusedOptions;
pub use settings::{ContextCarrier, Intrinsics, Metrics, Natives, Settings, Tool};
pub use tables::ReadFile;
pub use word::{NamedValues, Word};
