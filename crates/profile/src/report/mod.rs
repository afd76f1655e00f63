//! Reports: a header, the tree with its thresholds, the table of what costs most.
//!
//! [`Rows`] and [`Table`] are what is shown, for whoever writes it in whatever format;
//! [`write_header`], [`write_tree`] and [`write_table`] write it for people. Counts have thousands
//! separators then; names are those of [`FrameTable::readable`], with control characters escaped.
//! Nothing is left out in silence: what the thresholds hide is said in a line of its own.

mod header;
pub(crate) mod numbers;
mod rows;
mod table;
#[cfg(test)]
mod tests;
mod tree;

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
    /// What was asked for is not there.
    #[error(transparent)]
    Selection(#[from] SelectionError),
}

/// What rows are sorted by, the largest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The metric, of the row itself.
    Own,
    /// The metric, with all that was called.
    Inclusive,
    /// Calls.
    Calls,
}
