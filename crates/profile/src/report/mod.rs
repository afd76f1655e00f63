//! Reports: a header, tables of the most expensive methods, the tree with its thresholds.
//!
//! [`Rows`] and [`Table`] hold the contents, for writers of any format. [`write_headlines`] (or
//! [`write_header`], which says everything), [`write_table`], [`write_tree`] and [`write_hot_path`]
//! write them as text for people, in a [`Layout`]. In text, counts have thousands separators. Names
//! are those of [`FrameTable::readable`], with control characters escaped. Lines say what
//! thresholds hide.

mod callers;
mod header;
mod headline;
mod hot_path;
mod layout;
pub(crate) mod numbers;
mod rows;
mod short_name;
mod table;
#[cfg(test)]
mod tests;
mod tree;

pub use callers::{CallersOptions, write_callers};
pub use header::{header_lines, write_header};
pub use headline::{headlines, write_headlines};
pub use hot_path::write_hot_path;
pub use layout::{Indentation, Layout};
pub use numbers::{aligned, counted, cut, grouped, percent};
pub use rows::{Row, Rows, RowsOptions};
pub use short_name::shortened;
pub use table::{Table, TableOptions, TableRow, write_table};
pub use tree::{calls_column, has_own_column, thread_title, write_tree};

use crate::{MergeError, SelectionError};
use std::io;

#[cfg(doc)]
use crate::names::FrameTable;

/// Why a report cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The output failed.
    #[error("writing the report failed")]
    Io(#[from] io::Error),
    /// Trees could not be added up.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The selection matches nothing.
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

/// The order of rows, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By the metric of the row itself.
    Own,
    /// By the metric of the row and all its callees.
    Inclusive,
    /// By calls.
    Calls,
}
