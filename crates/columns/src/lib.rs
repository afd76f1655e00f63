//! The columns of a node: the table of the numbers that passes count beside calls and bytecodes.
//!
//! A node always has calls and bytecodes, or the cost of bytecodes. Every other number is a
//! **column**. A new one is a row of [`columns!`] below; ARCHITECTURE.md has the recipe.
//!
//! * **In the JVM** a column's number is a **cell**: a leaf below the node with the column's method
//!   id, whose calls are the number. A node without the number has no cell, so other programs pay
//!   nothing. All code for trees (arena, recovery, regions, folded recursion, agents) handles a
//!   cell like any leaf. All sites of a method that count for one column share one slot. Cells take
//!   as much memory as contexts, and merged contexts have none.
//! * **In a file** (version 7) cells are nodes of a method with a flag of its own. The reader turns
//!   them into columns.
//! * **In memory** a tree holds its columns beside its nodes: a tree without columns takes no
//!   additional memory.
//! * **All columns are sums.** The numbers of equal contexts add up, and so do those of a subtree:
//!   merged profiles and *inclusive* numbers depend on it. A number that does not add up, such as a
//!   maximum, is not a column.
//!
//! Objects by type (`--allocations`) are leaves too, but each type is a number of its own: a
//! dimension rather than a column.
//!
//! Rewriter, checker and profiles share this table, and nothing else.

/// Declares the columns.
macro_rules! columns {
    ($($(#[$doc:meta])* $id:ident = $name:literal { counts: $counts:literal, limits: $limits:literal, })*) => {
        /// A column.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Column {
            $($(#[$doc])* $id,)*
        }

        const ROWS: &[Row] = &[$(Row { column: Column::$id, name: $name, counts: $counts, limits: $limits }),*];
    };
}

/// The facts about a column.
struct Row {
    column: Column,
    name: &'static str,
    counts: &'static str,
    limits: &'static str,
}

columns! {
    /// Entries into monitors: by `monitorenter` (JVMS 6.5), and by calls of synchronized methods
    /// (JVMS 2.11.10).
    Monitors = "monitors" {
        counts: "entries into monitors: executed monitorenter, and calls of synchronized methods",
        limits: "monitors that the JVM or native code enters by itself are not counted",
    }
    /// Executed `athrow` instructions (JVMS 6.5).
    Throws = "throws" {
        counts: "executed athrow instructions",
        limits: "exceptions that the JVM or native code throws by itself are not counted",
    }
}

impl Column {
    /// All columns, in the order of the table.
    pub fn all() -> impl Iterator<Item = Column> {
        ROWS.iter().map(|row| row.column)
    }

    /// The column with this name.
    pub fn named(name: &str) -> Option<Column> {
        Column::all().find(|column| column.name() == name)
    }

    /// The column's name, in the plural: lower-case letters, digits and `-`.
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// A description of the counted events.
    pub fn counts(self) -> &'static str {
        ROWS[self as usize].counts
    }

    /// The events that it does not count. All others are exact.
    pub fn limits(self) -> &'static str {
        ROWS[self as usize].limits
    }
}

/// A set of columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns(u32);

impl Columns {
    /// The empty set.
    pub const NONE: Columns = Columns(0);

    /// The columns with these names, separated by spaces; `None` if there is no such column.
    pub fn parse(names: &str) -> Option<Columns> {
        names.split_whitespace().map(Column::named).collect()
    }

    /// This set with a further column.
    #[must_use]
    pub fn with(self, column: Column) -> Columns {
        Columns(self.0 | 1 << column as u32)
    }

    /// Whether the set contains the column.
    pub fn contains(self, column: Column) -> bool {
        self.0 >> column as u32 & 1 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Columns::NONE
    }

    /// The columns of the set, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Column> {
        Column::all().filter(move |column| self.contains(*column))
    }

    /// The names of the columns, separated by spaces.
    pub fn names(self) -> String {
        self.iter().map(Column::name).collect::<Vec<_>>().join(" ")
    }
}

impl FromIterator<Column> for Columns {
    fn from_iter<T: IntoIterator<Item = Column>>(columns: T) -> Columns {
        columns.into_iter().fold(Columns::NONE, Columns::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_columns_and_of_their_names() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.column as usize, place);
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(row.name.len() <= 24 && row.name.chars().all(is_plain), "{}", row.name);
        }
        assert!(ROWS.is_sorted_by_key(|row| row.name));
    }

    #[test]
    fn sets_have_names() {
        let all: Columns = Column::all().collect();
        assert_eq!(Columns::parse(&all.names()), Some(all));
        assert_eq!((Columns::parse(""), Columns::parse("monitors no")), (Some(Columns::NONE), None));
        assert!(all.contains(Column::Monitors) && !Columns::NONE.contains(Column::Monitors));
    }
}
