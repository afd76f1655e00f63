//! Columns: the numbers of a context besides its calls and bytecodes (the table is
//! [`cct_columns::Column`]).
//!
//! A profile names its columns in `META` ([`COLUMNS`]), sorted, and each of its trees has their
//! numbers in that order ([`crate::Tree::values`]). A profile may have columns that this program's
//! table does not contain: counts of another version, or costs of bytecodes by several models. They
//! are kept and shown like the others.
//!
//! Reports and exports show one column at a time ([`Profile::by_column`]): its numbers replace
//! those of bytecodes.

use crate::meta_keys::{BYTECODES, CALLS, COLUMNS, COST_MODEL, METRICS, METRICS_OF_OBJECTS};
use crate::{MergeError, Method, Profile, Tree, TreeBuilder, Unit};
use std::collections::BTreeSet;

/// The column in which calls of synchronized methods count.
const MONITORS: &str = cct_columns::Column::Monitors.name();

impl Profile {
    /// The columns, in the order in which trees have their numbers.
    pub fn columns(&self) -> Vec<Unit> {
        let names: BTreeSet<&str> =
            self.meta.get(COLUMNS).map_or("", |names| names).split_whitespace().collect();
        names.into_iter().filter_map(usable).collect()
    }

    /// The sum of each column over all contexts.
    pub fn column_totals(&self) -> Vec<(Unit, u128)> {
        let columns = self.columns();
        let mut sums = vec![0u128; columns.len()];
        for tree in self.threads.iter().map(|thread| &thread.tree) {
            for node in 1..tree.nodes().len() as u32 {
                sums.iter_mut().zip(tree.values(node)).for_each(|(sum, &value)| *sum += u128::from(value));
            }
        }
        columns.into_iter().zip(sums).collect()
    }

    /// The profile by one of its columns, whose numbers replace those of bytecodes; `None` if it
    /// has no such column.
    #[must_use]
    pub fn by_column(mut self, column: Unit) -> Option<Profile> {
        let place = self.columns().iter().position(|other| *other == column)?;
        self.threads.iter_mut().for_each(|thread| thread.tree.counted_by(place));
        self.meta.remove(COLUMNS);
        self.meta.remove(COST_MODEL);
        self.meta.insert(METRICS.to_owned(), format!("{CALLS}+{}", column.name()));
        Some(self)
    }

    /// The profile without its columns.
    #[must_use]
    pub fn without_columns(mut self) -> Profile {
        self.meta.remove(COLUMNS);
        self.threads.iter_mut().for_each(|thread| thread.tree.without_columns());
        self
    }

    /// Converts cells to columns. Files and the memory of a JVM have cells: leaves of methods with
    /// the flag [`Method::COLUMN`], whose calls are the number of the context above them. Calls of
    /// methods with the flag [`Method::SYNCHRONIZED`] count in the column of monitors.
    ///
    /// # Errors
    /// Fails if a tree refers to a missing method.
    pub fn with_columns(mut self) -> Result<Profile, MergeError> {
        const NEW: u64 = Method::COLUMN | Method::SYNCHRONIZED;
        let mut columns = self.columns();
        self.name_columns(&columns);
        let has_columns = self.threads.iter().all(|thread| thread.tree.columns() == columns.len());
        if has_columns && self.methods.iter().all(|method| method.flags & NEW == 0) {
            return Ok(self);
        }
        let of_cells = self.methods.iter().filter(|method| is_column(method)).map(|method| &*method.name);
        let of_calls = self.methods.iter().any(|method| method.flags & Method::SYNCHRONIZED != 0);
        columns.extend(of_cells.chain(of_calls.then_some(MONITORS)).filter_map(usable));
        columns.sort_unstable_by_key(|column| column.name());
        columns.dedup();
        let place = |name: &str| columns.iter().position(|column| column.name() == name);
        let monitors = place(MONITORS);
        let mut next = 0;
        let rows: Vec<Row> = self
            .methods
            .iter()
            .map(|method| match place(&method.name).filter(|_| is_column(method)) {
                Some(column) => Row::Column(column),
                None => {
                    next += 1;
                    let enters = monitors.filter(|_| method.flags & Method::SYNCHRONIZED != 0);
                    Row::Method(next - 1, enters)
                }
            })
            .collect();
        for thread in &mut self.threads {
            thread.tree = gathered(&thread.tree, &rows, columns.len())?;
        }
        self.methods.retain(|method| !is_column(method));
        self.methods.iter_mut().for_each(|method| method.flags &= !NEW);
        self.name_columns(&columns);
        Ok(self)
    }

    /// Has `META` name these columns, in their order: a file may name them in any, some twice, and
    /// others that are none.
    fn name_columns(&mut self, columns: &[Unit]) {
        if columns.is_empty() {
            self.meta.remove(COLUMNS);
            return;
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        self.meta.insert(COLUMNS.to_owned(), names.join(" "));
    }
}

/// The meaning of a row of the table of methods.
#[derive(Clone, Copy)]
enum Row {
    /// A method with this number, and the column in which its calls count, too.
    Method(u32, Option<usize>),
    /// A column.
    Column(usize),
}

/// The tree with its cells gathered into columns.
fn gathered(tree: &Tree, rows: &[Row], columns: usize) -> Result<Tree, MergeError> {
    let root = &tree.nodes()[0];
    let mut builder = TreeBuilder::with_root(root.calls, root.bytecodes).with_columns(columns);
    let mut open: Vec<u32> = Vec::new();
    let mut next = 1;
    while let Some(node) = tree.nodes().get(next as usize) {
        while open.pop_if(|end| *end <= next).is_some() {
            builder.leave();
        }
        let row = rows.get(node.method as usize).copied();
        let row = row.ok_or(MergeError::NoSuchMethod { method: node.method, count: rows.len() })?;
        let end = tree.subtree(next).end;
        let counted = match row {
            Row::Column(column) => {
                // A cell has no children.
                next = end;
                Some(column)
            }
            Row::Method(method, counted) => {
                builder.enter(method, node.calls, node.bytecodes)?;
                open.push(end);
                next += 1;
                counted
            }
        };
        if let Some(column) = counted {
            let value = &mut builder.numbers()[column];
            // No JVM has counted more than 64 bits hold.
            *value = value.saturating_add(node.calls);
        }
    }
    Ok(builder.finish())
}

/// The row for a column among the methods of a file.
pub(crate) fn row_of_column(name: &str) -> Method {
    let (class, descriptor) = ("".into(), "".into());
    Method { class, name: name.into(), descriptor, site: None, mid: 0, flags: Method::COLUMN }
}

/// Whether a row is a column.
pub fn is_column(method: &Method) -> bool {
    method.flags & Method::COLUMN != 0
        && method.class.is_empty()
        && method.descriptor.is_empty()
        && usable(&method.name).is_some()
}

/// The unit for a column's name, if it is a valid one.
fn usable(name: &str) -> Option<Unit> {
    Unit::of(name).filter(|_| ![CALLS, BYTECODES, METRICS_OF_OBJECTS].contains(&name))
}

#[cfg(test)]
mod tests;
