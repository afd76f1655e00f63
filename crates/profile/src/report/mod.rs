//! Reports: a header, the tree with its thresholds, the table of the most expensive methods.
//!
//! [`Rows`] and [`Table`] hold the contents, for writers of any format. [`write_header`],
//! [`write_tree`] and [`write_table`] write them as text for people. In text, counts have thousands
//! separators. Names are those of [`FrameTable::readable`], with control characters escaped. A
//! separate line reports what the thresholds hide.

mod callers;
mod header;
pub(crate) mod numbers;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod tree;

pub use callers::{CallersOptions, write_callers};
pub use header::{header_lines, write_header};
pub use numbers::{aligned, counted, cut, grouped, percent};
pub use rows::{Row, Rows, RowsOptions};
pub use table::{Table, TableRow, write_table};
pub use tree::{thread_title, write_tree};

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
