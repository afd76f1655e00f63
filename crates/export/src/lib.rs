//! Profiles in the formats of other tools.
//!
//! A [`Source`] is the input of all formats: the trees of a profile, with names instead of methods
//! ([`Name`]), after selection and pruning. Each format is a module with a function that writes a
//! source, and a line in [`FORMATS`]:
//!
//! | | |
//! |---|---|
//! | [`collapsed`] | a line for each stack, for FlameGraph and its relatives |
//! | [`flame`] | flame graphs, icicles, differences of two profiles |
//! | [`html`] | a page with a flame graph, tree and methods, of one profile or of two |
//! | [`speedscope`] | speedscope's own JSON |
//! | [`pprof`] | `profile.proto`, for pprof |
//! | [`otlp`] | the profiles signal of OpenTelemetry |
//! | [`callgrind`] | functions and calls, for callgrind_annotate and KCachegrind |
//! | [`parquet`] | a table with a row for each context, for data bases |
//! | [`json`] | all of it, with a JSON Schema (`docs/reference/formats/export.schema.json`) |
//!
//! In every format the sum of the written counts is that of the profile: pruned contexts are added
//! up as [`PRUNED`]. The same source gives the same bytes. Nothing recurses on the depth of a tree.
//! `docs/use/exports.md` lists the limits of each format.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod callgrind;
pub mod collapsed;
mod difference;
pub mod flame;
mod format;
mod formats;
pub mod html;
pub mod json;
mod locations;
mod name;
pub mod otlp;
pub mod parquet;
mod paths;
pub mod pprof;
mod protobuf;
mod prune;
mod source;
pub mod speedscope;
mod string_table;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod walk;

pub use cct_profile::Metric;
pub use difference::Difference;
pub use format::{Format, Output, Writer};
pub use formats::FORMATS;
pub use name::{Name, NameForm};
pub use prune::{PRUNED, PrunedContexts, Threshold};
pub use source::{Options, Source, Stacks};

use cct_profile::{MergeError, SelectionError, TreeTooLarge};
use std::io;

/// The creator of the file, for formats that name one.
const CREATOR: &str = concat!("cctrewrite ", env!("CARGO_PKG_VERSION"));

/// Why a profile cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output failed.
    #[error("writing failed")]
    Io(#[from] io::Error),
    /// Trees could not be added up.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The formats have signed 64-bit numbers.
    #[error("the {0} of all contexts are more than 2^63 - 1, which the formats of other tools cannot hold")]
    TooMany(&'static str),
    /// The format numbers its stacks by signed 32-bit numbers.
    #[error("the profile has more than 2^31 - 1 stacks; raise --min-percent, or lower --depth")]
    TooManyStacks,
    /// Nothing is selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Bytecodes were requested and not counted.
    #[error("the profile counts calls only, no bytecodes")]
    NoBytecodes,
    /// Numbers of different things.
    #[error(
        "the profiles count by different cost models ({0} and {1}), and their numbers cannot be compared; use --metric calls"
    )]
    CostModels(String, String),
    /// Objects were requested and not counted.
    #[error("the profile does not count objects")]
    NoObjects,
    /// A difference was requested in a format that cannot show it.
    #[error("the format {0} cannot show a difference")]
    NoDifference(&'static str),
    /// More or deeper boxes than a browser could show.
    #[error("the picture would be too large; raise --min-percent, or lower --depth")]
    PictureTooLarge,
    /// Writing of Parquet failed.
    #[error("writing the table failed")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// Writing of JSON failed.
    #[error("writing JSON failed")]
    Json(#[source] serde_json::Error),
}

impl From<serde_json::Error> for ExportError {
    fn from(error: serde_json::Error) -> ExportError {
        // Lets callers recognise a closed pipe.
        if error.is_io() { ExportError::Io(error.into()) } else { ExportError::Json(error) }
    }
}

impl From<TreeTooLarge> for ExportError {
    fn from(error: TreeTooLarge) -> ExportError {
        ExportError::Merge(error.into())
    }
}
